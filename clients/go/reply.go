package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Reply is a success.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON reads the body.
func (r *Reply) JSON(into any) error { return json.Unmarshal(r.Body, into) }

// Violation is one error of a request, with its place.
type Violation struct{ Pointer, Code, Detail string }

// Problem is a refusal of the API (RFC 9457), or a reply that cannot be read (Status 0).
type Problem struct {
	Status     int
	Code       string
	Title      string
	Detail     string
	RequestID  string
	Retryable  bool
	Errors     []Violation
	RetryAfter time.Duration // the header of this name; 0 without it
	Body       []byte
	explicit   bool // whether the API says if it is retryable
}

func (p *Problem) Error() string {
	text := fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail)
	for _, one := range p.Errors {
		text += "\n  " + one.Pointer + ": " + one.Detail
	}
	return text
}

func problemOf(answer *http.Response, body []byte) *Problem {
	whole := strings.ToValidUTF8(string(body), "\uFFFD")
	var envelope map[string]json.RawMessage
	if json.Unmarshal(body, &envelope) == nil && bytes.HasPrefix(envelope["error"], []byte("{")) {
		body = envelope["error"]
	}
	var members map[string]any // a proxy can send anything
	_ = json.Unmarshal(body, &members)
	text := func(name string) string { found, _ := members[name].(string); return found }
	problem := &Problem{Status: answer.StatusCode, Code: text("code"), Title: text("title"), Detail: text("detail"), RequestID: text("request_id")}
	for _, other := range []string{problem.Title, whole} {
		if problem.Detail == "" {
			problem.Detail = other
		}
	}
	if problem.Code == "" {
		problem.Code = "unknown"
	}
	problem.Retryable, problem.explicit = members["retryable"].(bool)
	if !problem.explicit {
		problem.Retryable = strings.Contains("408 429 502 503 504", strconv.Itoa(answer.StatusCode))
	}
	problem.Errors, problem.Body, problem.RetryAfter = violations(body), body, retryAfter(answer.Header.Get("Retry-After"))
	return problem
}

// violations reads the objects of `errors`. A proxy can send anything.
func violations(body []byte) (found []Violation) {
	var listed struct{ Errors []json.RawMessage }
	if json.Unmarshal(body, &listed) != nil {
		return nil
	}
	for _, one := range listed.Errors {
		var violation Violation
		if bytes.HasPrefix(one, []byte("{")) && json.Unmarshal(one, &violation) == nil {
			found = append(found, violation)
		}
	}
	return found
}

// retryAfter reads seconds or a date.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	} else if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt64
	}
	if date, err := http.ParseTime(text); err == nil && time.Until(date) > 0 {
		return time.Until(date)
	}
	return 0
}
