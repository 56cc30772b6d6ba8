package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	sandbox "finance-sandbox"
)

type problem struct {
	Code, Detail string
	Retryable    bool
}

// The cases of clients/cases.json, which all six clients share.
var cases struct {
	Replies []struct {
		Name, Method, Reply string
		Replies             []string
		Content             []byte
		Times               int
		Slow                bool
		SlowHead            bool `json:"slow_head"`
		Status              int
		Requests, Waits     int
		JSON                any
		Text                string
		Problem             *problem
	}
	Requests []struct {
		Name, Method, Path string
		Query              map[string]any
		Headers, Sent      map[string]string
		ClientHeaders      map[string]string `json:"client_headers"`
		Body               any
		Target             string
		Refused            bool
		NewKey             bool `json:"new_key"`
	}
	Pages []struct {
		Name, Path       string
		Query            map[string]any
		Replies, Targets []string
		IDs              []int
		Problem          *problem
	}
	Now      int64
	Webhooks []struct {
		Name, Secret, Timestamp, Signature string
		Secrets                            []string
		ID                                 json.RawMessage
		Body                               []byte
		Right                              bool
		Tolerance                          int
	}
}

func TestMain(m *testing.M) {
	text, err := os.ReadFile("../cases.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

type received struct {
	head []string
	body []byte
}

// stub answers the requests with these bytes, the last of them again and again, and sends the requests. It writes slowly
// from a byte on, or never if that is negative.
func stub(t *testing.T, slowFrom int, replies ...string) (*sandbox.Client, chan received) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	requests := make(chan received, 10)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			requests <- readRequest(connection)
			reply := replies[0]
			if len(replies) > 1 {
				replies = replies[1:]
			}
			if slowFrom >= 0 {
				fmt.Fprint(connection, reply[:slowFrom])
				for reply = reply[slowFrom:]; reply != ""; reply = reply[1:] {
					if _, err := fmt.Fprint(connection, reply[:1]); err != nil {
						break // the client does not wait for the rest
					}
					time.Sleep(100 * time.Millisecond)
				}
			}
			fmt.Fprint(connection, reply)
			connection.Close()
		}
	}()
	client := sandbox.New("http://"+listener.Addr().String(), "test_key")
	client.Retries = 0
	return client, requests
}

func readRequest(connection net.Conn) (request received) {
	reader, length := bufio.NewReader(connection), 0
	for {
		line, err := reader.ReadString('\n')
		if line = strings.TrimSpace(line); line == "" || err != nil {
			request.body = make([]byte, length)
			_, _ = io.ReadFull(reader, request.body)
			return request
		}
		_, _ = fmt.Sscanf(strings.ToLower(line), "content-length: %d", &length)
		request.head = append(request.head, line)
	}
}

func (r received) headers(name string) (found []string) {
	for _, line := range r.head {
		if given, value, _ := strings.Cut(line, ":"); strings.EqualFold(given, name) {
			found = append(found, strings.TrimSpace(value))
		}
	}
	return found
}

func checkProblem(t *testing.T, name string, err error, status int, expected *problem) {
	t.Helper()
	var found *sandbox.Problem
	if !errors.As(err, &found) {
		t.Errorf("%s: %v", name, err)
		return
	}
	equal(t, name, fmt.Sprint(found.Status, found.Code, found.Retryable), fmt.Sprint(status, expected.Code, expected.Retryable))
	if !strings.Contains(found.Detail, expected.Detail) {
		t.Errorf("%s: %q does not contain %q", name, found.Detail, expected.Detail)
	}
}

func TestReplies(t *testing.T) {
	for _, row := range cases.Replies {
		replies := row.Replies
		if replies == nil {
			replies = []string{row.Reply}
		}
		slowFrom := -1
		for number, reply := range replies {
			head, body, found := strings.Cut(reply, "\r\n\r\n")
			if found {
				replies[number] = head + "\r\n\r\n" + strings.Repeat(body, max(row.Times, 1)) + string(row.Content)
			}
			if row.Slow {
				slowFrom = len(head) + 4
			} else if row.SlowHead {
				slowFrom = 40
			}
		}
		client, requests := stub(t, slowFrom, replies...)
		client.HTTP = &http.Client{Timeout: time.Second} // also a client of the caller follows no redirect
		if row.Replies != nil {
			client.Retries = 3
		}
		started := time.Now()
		reply, err := client.Do(context.Background(), row.Method, "/", nil, nil, nil)
		switch {
		case row.Problem != nil:
			checkProblem(t, row.Name, err, row.Status, row.Problem)
		case err != nil:
			t.Errorf("%s: %v", row.Name, err)
		default:
			var body any = string(reply.Body)
			expected := any(row.Text)
			if row.JSON != nil {
				_, expected = reply.JSON(&body), row.JSON
			}
			equal(t, row.Name, fmt.Sprint(reply.Status, body), fmt.Sprint(row.Status, expected))
		}
		took := time.Since(started)
		equal(t, row.Name, took >= time.Duration(row.Waits)*time.Second && took < 3*time.Second, true)
		equal(t, row.Name, len(requests), max(row.Requests, 1))
		keys, wanted := map[string]bool{}, 0
		if row.Method == "POST" {
			wanted = 1
		}
		for len(requests) > 0 {
			found := (<-requests).headers("Idempotency-Key")
			equal(t, row.Name, len(found), wanted)
			for _, key := range found {
				keys[key] = true
			}
		}
		equal(t, row.Name, len(keys), wanted)
	}
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func values(query map[string]any) url.Values {
	values := url.Values{}
	for name, value := range query {
		switch value := value.(type) {
		case nil:
		case []any:
			for _, one := range value {
				values.Add(name, fmt.Sprint(one))
			}
		default:
			values.Add(name, fmt.Sprint(value))
		}
	}
	return values
}

func TestRequests(t *testing.T) {
	for _, row := range cases.Requests {
		if row.ClientHeaders != nil {
			continue // a client has no headers of its own
		}
		header := http.Header{}
		for name, value := range row.Headers {
			header[name] = []string{value}
		}
		if row.Method == "POST" && row.Body == nil {
			row.Body = map[string]any{}
		}
		client, requests := stub(t, -1, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		client.Retries = 3
		_, err := client.Do(context.Background(), row.Method, row.Path, values(row.Query), row.Body, header)
		if row.Refused {
			var problem *sandbox.Problem
			equal(t, row.Name, err != nil && !errors.As(err, &problem) && len(requests) == 0, true)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.Name, err)
			continue
		}
		request := <-requests
		equal(t, row.Name, strings.Fields(request.head[0])[1], row.Target)
		var body any
		_ = json.Unmarshal(request.body, &body)
		equal(t, row.Name, fmt.Sprint(body), fmt.Sprint(row.Body))
		for name, value := range row.Sent {
			equal(t, row.Name, fmt.Sprint(request.headers(name)), fmt.Sprint([]string{value}))
		}
		if row.NewKey {
			keys := request.headers("Idempotency-Key")
			equal(t, row.Name, len(keys) == 1 && keys[0] != "", true)
		}
	}
}

func TestPages(t *testing.T) {
	for _, row := range cases.Pages {
		client, requests := stub(t, -1, row.Replies...)
		ids, targets := []int{}, []string{}
		err := client.Paginate(context.Background(), row.Path, values(row.Query), func(item json.RawMessage) error {
			var one struct{ ID int }
			err := json.Unmarshal(item, &one)
			ids = append(ids, one.ID)
			return err
		})
		if row.Problem != nil {
			checkProblem(t, row.Name, err, 0, row.Problem)
		} else {
			equal(t, row.Name, fmt.Sprint(ids, err), fmt.Sprint(row.IDs, nil))
		}
		for len(requests) > 0 {
			targets = append(targets, strings.Fields((<-requests).head[0])[1])
		}
		equal(t, row.Name, fmt.Sprint(targets), fmt.Sprint(row.Targets))
	}
}

func TestWebhooks(t *testing.T) {
	for _, row := range cases.Webhooks {
		if row.Secrets == nil {
			row.Secrets = []string{row.Secret}
		}
		webhook := sandbox.NewWebhook(row.Secrets...)
		webhook.Now = func() time.Time { return time.Unix(cases.Now, 0) }
		if row.Tolerance > 0 {
			webhook.Tolerance = time.Duration(row.Tolerance) * time.Second
		}
		header := http.Header{"Webhook-Timestamp": {row.Timestamp}, "Webhook-Signature": {row.Signature}}
		if row.ID == nil {
			header.Set("Webhook-Id", "evt_1")
		}
		equal(t, row.Name, webhook.Verify(header, row.Body) == nil, row.Right)
	}
}

func TestABodyThatJSONCannotExpressIsNotSent(t *testing.T) {
	_, err := sandbox.New("http://127.0.0.1:9", "test_key").Post(context.Background(), "/", math.NaN())
	var problem *sandbox.Problem
	equal(t, "NaN", err != nil && !errors.As(err, &problem), true)
}

func equal(t *testing.T, name string, actual, expected any) {
	t.Helper()
	if actual != expected {
		t.Errorf("%s: %v is not %v", name, actual, expected)
	}
}
