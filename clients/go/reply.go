package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	RequestID  string `json:"request_id"`
	Retryable  bool
	Errors     []Violation   `json:"-"`
	RetryAfter time.Duration `json:"-"` // the header of this name; 0 without it
	Body       []byte        `json:"-"`
	explicit   bool          // whether the API says if it is retryable
}

func (p *Problem) Error() string {
	text := fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail)
	for _, one := range p.Errors {
		text += "\n  " + one.Pointer + ": " + one.Detail
	}
	return text
}

func problemOf(answer *http.Response, body []byte) *Problem {
	problem := &Problem{Code: "unknown", Detail: string(body)}
	problem.Retryable = strings.Contains("408 429 502 503 504", strconv.Itoa(answer.StatusCode))
	var envelope struct{ Error json.RawMessage }
	if json.Unmarshal(body, &envelope) == nil && bytes.HasPrefix(envelope.Error, []byte("{")) {
		body = envelope.Error
	}
	_ = json.Unmarshal(body, problem) // the text of a proxy stays in Detail
	problem.Errors = violations(body)
	var said struct{ Retryable *bool }
	problem.explicit = json.Unmarshal(body, &said) == nil && said.Retryable != nil
	problem.Status, problem.Body, problem.RetryAfter = answer.StatusCode, body, retryAfter(answer.Header.Get("Retry-After"))
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
	}
	if date, err := http.ParseTime(text); err == nil && time.Until(date) > 0 {
		return time.Until(date)
	}
	return 0
}
