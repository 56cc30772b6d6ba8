// Package sandbox is a thin client: it implements the conventions of the API, and no single operation.
package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

var (
	isJSON = regexp.MustCompile(`(?i)^[^;]*[/+]json\s*(;|$)`)
	escape = regexp.MustCompile(`^%[0-9A-Fa-f]{2}`)
)

// Client calls the API with a key; in the sandbox the key selects the world. Retries follow the first attempt.
type Client struct {
	BaseURL, APIKey string
	Retries         int
	HTTP            *http.Client
}

// New returns a client with three retries and a time limit of 30 seconds for each attempt.
func New(baseURL, apiKey string) *Client {
	return &Client{strings.TrimRight(baseURL, "/"), apiKey, 3, &http.Client{Timeout: 30 * time.Second}}
}

// Get reads a path.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (*Reply, error) {
	return c.Do(ctx, "GET", path, query, nil, nil)
}

// Post sends a body. Every retry has the same Idempotency-Key.
func (c *Client) Post(ctx context.Context, path string, body any) (*Reply, error) {
	return c.Do(ctx, "POST", path, nil, body, nil)
}

// PDF returns the bytes of a PDF.
func (c *Client) PDF(ctx context.Context, path string) ([]byte, error) {
	reply, err := c.Do(ctx, "GET", path, nil, nil, http.Header{"Accept": {"application/pdf"}})
	if err != nil {
		return nil, err
	}
	return reply.Body, nil
}

// Paginate calls `each` with every item of a list, one page at a time. It stops at the first error.
func (c *Client) Paginate(ctx context.Context, path string, query url.Values, each func(json.RawMessage) error) error {
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil {
		page = 1
	}
	isFromStart := page == 1
	for seen := 0; ; page++ {
		asked := url.Values{}
		for name, values := range query {
			asked[name] = values
		}
		asked.Set("page", strconv.Itoa(page))
		reply, err := c.Get(ctx, path, asked)
		if err != nil {
			return err
		}
		var body struct {
			Data []json.RawMessage
			Meta struct{ Total *int }
		}
		if err := reply.JSON(&body); body.Data == nil {
			return &Problem{Code: "invalid_reply", Detail: fmt.Sprintf("GET %s: the reply is not a list: %v", path, err)}
		}
		for _, item := range body.Data {
			if err := each(item); err != nil {
				return err
			}
		}
		seen += len(body.Data)
		if len(body.Data) == 0 || isFromStart && body.Meta.Total != nil && seen >= *body.Meta.Total {
			return nil
		}
	}
}

// Do sends a request, and repeats it if that is safe and can help. A POST has an Idempotency-Key; `header` may set it.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, body any, header http.Header) (*Reply, error) {
	var content []byte
	method = strings.ToUpper(method)
	sent := http.Header{"Authorization": {"Bearer " + c.APIKey}, "Accept": {"application/json"}}
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
		sent.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		sent[http.CanonicalHeaderKey(name)] = values
	}
	if method == "POST" && strings.TrimSpace(sent.Get("Idempotency-Key")) == "" {
		key := make([]byte, 16)
		_, _ = rand.Read(key)
		sent.Set("Idempotency-Key", hex.EncodeToString(key))
	}
	for name, values := range sent {
		for _, value := range values {
			if strings.ContainsAny(value, "\r\n\x00") {
				return nil, fmt.Errorf("the header %s contains a line break", name)
			}
		}
	}
	target := c.BaseURL + encoded(path)
	if len(query) > 0 {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		target += separator + query.Encode()
	}
	for attempt := 0; ; attempt++ {
		request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		request.Header = sent
		reply, problem := c.exchange(request)
		if problem == nil {
			return reply, nil
		}
		// A PATCH has no idempotency key: without an answer of the API, the client cannot know whether it took effect.
		unsafe := method == "PATCH" && !problem.explicit
		if !problem.Retryable || unsafe || attempt >= c.Retries || problem.RetryAfter > time.Minute {
			return nil, problem
		}
		wait := problem.RetryAfter
		if wait == 0 {
			wait = 100 * time.Millisecond << min(attempt, 4)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, problem
		}
	}
}

// encoded is the path and its query, with everything encoded that a URL does not have. What is encoded stays.
func encoded(path string) string {
	var out strings.Builder
	if !strings.HasPrefix(path, "/") {
		out.WriteByte('/')
	}
	for at := 0; at < len(path); at++ {
		one := path[at]
		isLetter := one >= 'a' && one <= 'z' || one >= 'A' && one <= 'Z' || one >= '0' && one <= '9'
		if isLetter || strings.IndexByte("-._~!$&()*+,/:;=?@", one) >= 0 || escape.MatchString(path[at:]) {
			out.WriteByte(one)
		} else {
			fmt.Fprintf(&out, "%%%02X", one)
		}
	}
	return out.String()
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func (c *Client) exchange(request *http.Request) (*Reply, *Problem) {
	lost := func(code string, err error) *Problem {
		detail := fmt.Sprintf("%s %s: %v", request.Method, request.URL.Path, err)
		return &Problem{Code: code, Detail: detail, Retryable: request.Context().Err() == nil}
	}
	// net/http would follow a redirect of a POST with a GET, and return that as the success of the POST.
	once := *c.HTTP
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := once.Do(request)
	if err != nil {
		return nil, lost("no_reply", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, lost("no_reply", err)
	}
	status := answer.StatusCode
	if status >= 300 && status < 400 && status != 304 {
		detail := fmt.Sprintf("%s %s: the reply redirects to %s", request.Method, request.URL.Path, answer.Header.Get("Location"))
		return nil, &Problem{Status: status, Code: "redirect", Detail: detail}
	}
	if status < 400 {
		hasContent := request.Method != "HEAD" && status != 204 && status != 304
		if hasContent && isJSON.MatchString(answer.Header.Get("Content-Type")) && !(utf8.Valid(body) && json.Valid(body)) {
			return nil, lost("invalid_reply", errors.New("the body is not JSON"))
		}
		return &Reply{status, answer.Header, body}, nil
	}
	return nil, problemOf(answer, body)
}
