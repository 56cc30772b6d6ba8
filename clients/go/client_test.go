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

// The cases of clients/cases.json, which all six clients share.
var cases struct {
	Replies []struct {
		Name, Method, Reply string
		Slow                bool
		Status              int
		Problem             *struct {
			Code, Detail string
			Retryable    bool
		}
	}
	Requests []struct {
		Name, Method, Path string
		Query              map[string]any
		Headers, Sent      map[string]string
		ClientHeaders      map[string]string `json:"client_headers"`
		Target             string
	}
	Now      int64
	Webhooks []struct {
		Name, Secret, Timestamp, Signature string
		Body                               []byte
		Right                              bool
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

// stub answers each request with these bytes, and sends the head of the request. It writes them slowly, or at once.
func stub(t *testing.T, reply string, slow bool) (*sandbox.Client, chan []string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	heads := make(chan []string, 10)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			heads <- readRequest(connection)
			start, body, _ := strings.Cut(reply, "\r\n\r\n")
			fmt.Fprint(connection, start, "\r\n\r\n")
			for slow && body != "" {
				fmt.Fprint(connection, body[:1])
				body = body[1:]
				time.Sleep(100 * time.Millisecond)
			}
			fmt.Fprint(connection, body)
			connection.Close()
		}
	}()
	client := sandbox.New("http://"+listener.Addr().String(), "test_key")
	client.Retries = 0
	return client, heads
}

func readRequest(connection net.Conn) (head []string) {
	reader, length := bufio.NewReader(connection), 0
	for {
		line, err := reader.ReadString('\n')
		if line = strings.TrimSpace(line); line == "" || err != nil {
			_, _ = io.CopyN(io.Discard, reader, int64(length))
			return head
		}
		_, _ = fmt.Sscanf(strings.ToLower(line), "content-length: %d", &length)
		head = append(head, line)
	}
}

func TestReplies(t *testing.T) {
	for _, row := range cases.Replies {
		client, heads := stub(t, row.Reply, row.Slow)
		client.HTTP = &http.Client{Timeout: time.Second} // also a client of the caller follows no redirect
		reply, err := client.Do(context.Background(), row.Method, "/", nil, nil, nil)
		var problem *sandbox.Problem
		switch {
		case row.Problem == nil && err == nil:
			equal(t, row.Name, fmt.Sprint(reply.Status, len(reply.Body)), fmt.Sprint(row.Status, 0))
		case row.Problem == nil || !errors.As(err, &problem):
			t.Errorf("%s: %v", row.Name, err)
		default:
			equal(t, row.Name, fmt.Sprint(problem.Status, problem.Code, problem.Retryable), fmt.Sprint(row.Status, row.Problem.Code, row.Problem.Retryable))
			equal(t, row.Name, strings.Contains(problem.Detail, row.Problem.Detail), true)
		}
		equal(t, row.Name, len(heads), 1)
	}
}

func TestRequests(t *testing.T) {
	for _, row := range cases.Requests {
		if row.ClientHeaders != nil {
			continue // a client has no headers of its own
		}
		query, header := url.Values{}, http.Header{}
		for name, value := range row.Query {
			switch value := value.(type) {
			case nil:
			case []any:
				for _, one := range value {
					query.Add(name, fmt.Sprint(one))
				}
			default:
				query.Add(name, fmt.Sprint(value))
			}
		}
		for name, value := range row.Headers {
			header[name] = []string{value}
		}
		var body any
		if row.Method == "POST" {
			body = map[string]any{}
		}
		client, heads := stub(t, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", false)
		if _, err := client.Do(context.Background(), row.Method, row.Path, query, body, header); err != nil {
			t.Fatal(row.Name, err)
		}
		head := <-heads
		equal(t, row.Name, strings.Fields(head[0])[1], row.Target)
		for name, value := range row.Sent {
			var found []string
			for _, line := range head {
				if given, sent, _ := strings.Cut(line, ": "); strings.EqualFold(given, name) {
					found = append(found, sent)
				}
			}
			equal(t, row.Name, fmt.Sprint(found), fmt.Sprint([]string{value}))
		}
	}
}

func TestWebhooks(t *testing.T) {
	for _, row := range cases.Webhooks {
		webhook := sandbox.NewWebhook(row.Secret)
		webhook.Now = func() time.Time { return time.Unix(cases.Now, 0) }
		header := http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Timestamp": {row.Timestamp}, "Webhook-Signature": {row.Signature}}
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
