// Package sandboxtest is the test kit: it starts the program, gives each test a world of its own, and controls that world.
package sandboxtest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sandbox "finance-sandbox"
)

// M is an object of JSON.
type M = map[string]any

// Sandbox is a running program. It ends with the process of the test, even if that is killed.
type Sandbox struct {
	URL     string
	command *exec.Cmd
	stdin   io.Closer
	ended   chan struct{} // closed after the end of the process
	err     error         // of its end
}

var (
	shared     *Sandbox
	sharedErr  error
	sharedOnce sync.Once
	forks      atomic.Int64
	unusable   = regexp.MustCompile(`[^!-~]+`)
	// A `-` replaces one space, and `~` begins what is added. A name that has them could get the key of another name.
	ambiguous = regexp.MustCompile(`[^ -,.-}]|  `)
	looksLive = regexp.MustCompile(`(?i)(^|[_-])live`) // a key with `_live_` would be refused as a live one
)

// Start starts a server with further flags. It stops at the end of the test.
func Start(t testing.TB, flags ...string) *Sandbox {
	t.Helper()
	started, err := start(flags)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Stop() })
	return started
}

func start(flags []string) (*Sandbox, error) {
	program := os.Getenv("SANDBOX_BIN")
	if program == "" {
		program = "sandbox"
	}
	fixed := []string{"--port", "0", "--quiet", "--exit-with-stdin", "--clock", "manual"}
	for _, flag := range flags {
		if strings.HasPrefix(flag, "--clock") {
			fixed = fixed[:4]
		}
	}
	command := exec.Command(program, append(fixed, flags...)...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SANDBOX_") && !strings.HasPrefix(variable, "PORT=") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%s does not start: %w; SANDBOX_BIN names another program", program, err)
	}
	ready, err := bufio.NewReader(stdout).ReadString('\n')
	if !strings.HasPrefix(ready, "listening on ") {
		if err == nil {
			_ = command.Process.Kill()
		}
		_ = command.Wait()
		found := strings.TrimSpace(ready)
		if found == "" {
			found = "it ended with " + strings.TrimPrefix(ending(command.ProcessState), "exit code ")
		}
		return nil, fmt.Errorf("%s does not serve: %s; SANDBOX_BIN names another program", program, found)
	}
	url := strings.TrimSpace(strings.TrimPrefix(ready, "listening on "))
	started := &Sandbox{URL: url, command: command, stdin: stdin, ended: make(chan struct{})}
	go func() {
		started.err = command.Wait()
		close(started.ended)
	}()
	return started, nil
}

// ending is an exit code, or the signal that ended the process.
func ending(state *os.ProcessState) string {
	if state.Exited() {
		return fmt.Sprintf("exit code %d", state.ExitCode())
	}
	return strings.Replace(state.String(), ": ", " ", 1)
}

// Ending says how the program has ended, such as "exit code 0". It is empty while the program runs.
func (s *Sandbox) Ending() string {
	select {
	case <-s.ended:
		return ending(s.command.ProcessState)
	case <-time.After(time.Second): // its connections end a moment before
		return ""
	}
}

// Stop ends the server and waits for its end.
func (s *Sandbox) Stop() error {
	_ = s.stdin.Close()
	<-s.ended
	return s.err
}

// World is the world of one test. Client is a client of it, for the code under test.
type World struct {
	*sandbox.Client
	Sandbox *Sandbox
	t       testing.TB
	misses  []string
}

// NewWorld returns a world of this test on the server that all tests of the process share. A test that fails also logs
// what happened in its world.
func NewWorld(t testing.TB) *World {
	t.Helper()
	sharedOnce.Do(func() { shared, sharedErr = start(nil) })
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared.World(t)
}

// World returns a world of this test, in its first state.
func (s *Sandbox) World(t testing.TB) *World {
	t.Helper()
	key := looksLive.ReplaceAllString(unusable.ReplaceAllString(t.Name(), "-"), "$0.")
	if len(key) > 240 || ambiguous.MatchString(t.Name()) {
		hash := sha256.Sum256([]byte(t.Name()))
		key = key[max(0, len(key)-231):] + "~" + hex.EncodeToString(hash[:4])
	}
	world := s.world(t, "test_"+key)
	world.Control("DELETE", "/world", nil, nil) // a reset keeps the scenario, seed and endpoints of an earlier run of this test
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", world.Report())
		}
	})
	return world
}

func (s *Sandbox) world(t testing.TB, key string) *World {
	return &World{sandbox.New(s.URL, key), s, t, nil}
}

func tail(key string) string {
	return key[max(0, len(key)-240):]
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// Control calls a route below /_sandbox. It returns the body: `data`, and `meta` of lists. A refusal ends the test.
func (w *World) Control(method, path string, query url.Values, body any) M {
	w.t.Helper()
	answer, err := w.control(method, path, query, body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer
}

func (w *World) control(method, path string, query url.Values, body any) (M, error) {
	// Never repeated: the control plane has no idempotency keys.
	tools := sandbox.Client{BaseURL: w.BaseURL, APIKey: w.APIKey, HTTP: &http.Client{Timeout: 2 * time.Minute}}
	reply, err := tools.Do(context.Background(), method, "/_sandbox"+path, query, body, nil)
	var lost *sandbox.Problem
	if errors.As(err, &lost) && lost.Status == 0 {
		if how := w.Sandbox.Ending(); how != "" {
			lost.Detail += "; the sandbox has ended with " + how
		}
	}
	if err != nil {
		return nil, err
	}
	answer := M{}
	return answer, reply.JSON(&answer)
}

func (w *World) data(path string, body any) M {
	w.t.Helper()
	data, _ := w.Control("POST", path, nil, body)["data"].(M)
	return data
}

// Advance advances the clock, by a duration such as "10d" or "2bd".
func (w *World) Advance(by string) M {
	w.t.Helper()
	return w.data("/clock/advance", M{"by": by})
}

// Scenario starts the world again with a scenario.
func (w *World) Scenario(name string) M {
	w.t.Helper()
	return w.data("/scenarios/"+name+"/load", nil)
}

// Fault adds a fault.
func (w *World) Fault(row M) M { w.t.Helper(); return w.data("/faults", row) }

// Rule adds a rule.
func (w *World) Rule(row M) M { w.t.Helper(); return w.data("/rules", row) }

// Events lists events, at most 100; `query` filters them: "type", "payout.paid".
func (w *World) Events(query ...string) []M { w.t.Helper(); return w.rows("/events", query) }

// Deliveries lists deliveries of webhooks, at most 100.
func (w *World) Deliveries(query ...string) []M { w.t.Helper(); return w.rows("/deliveries", query) }

func (w *World) rows(path string, query []string) []M {
	w.t.Helper()
	asked := url.Values{"per_page": {"100"}}
	for at := 0; at+1 < len(query); at += 2 {
		asked.Set(query[at], query[at+1])
	}
	return list(w.Control("GET", path, asked, nil)["data"])
}

func list(rows any) []M {
	var found []M
	text, _ := json.Marshal(rows) // it was JSON before
	_ = json.Unmarshal(text, &found)
	return found
}

// Verify ends the test unless the verdict is `pass`.
func (w *World) Verify(row M) {
	w.t.Helper()
	if err := w.Check(row); err != nil {
		w.t.Fatal(err)
	}
}

// Check verifies calls (`operation`), events (`type`) or deliveries (`event_type`).
func (w *World) Check(row M) error {
	kind := "events"
	if row["operation"] != nil {
		kind = "requests"
	} else if row["event_type"] != nil {
		kind = "deliveries"
	}
	answer, err := w.control("POST", "/"+kind+"/verify", nil, row)
	verdict, _ := answer["data"].(M)
	if err != nil || verdict["verdict"] == "pass" {
		return err
	}
	asked, _ := json.Marshal(row)
	nearest, _ := json.Marshal(verdict["nearest"])
	miss := fmt.Errorf("%s %s: %v, matched %v, nearest %s", kind, asked, verdict["verdict"], verdict["matched"], nearest)
	w.misses = append(w.misses, miss.Error())
	return miss
}

// Snapshot stores the state of the world and returns its id.
func (w *World) Snapshot() string {
	w.t.Helper()
	return fmt.Sprint(w.data("/snapshots", M{})["id"])
}

// Restore restores a snapshot.
func (w *World) Restore(id string) M {
	w.t.Helper()
	return w.data("/snapshots/"+id+"/restore", nil)
}

// Fork returns another world with a copy of this one.
func (w *World) Fork() *World {
	w.t.Helper()
	copied := w.Sandbox.world(w.t, tail(w.APIKey)+"~"+strconv.FormatInt(forks.Add(1), 10))
	w.Control("POST", "/snapshots/"+w.Snapshot()+"/fork", nil, M{"key": copied.APIKey})
	return copied
}

// Report says what happened in this world: the last events, decisions and refused calls, and the near misses of Verify.
func (w *World) Report() string {
	text := "world " + w.APIKey + " of " + w.BaseURL
	add := func(title string, lines []string) {
		text += "\n" + title + ":"
		if len(lines) == 0 {
			text += " none"
		}
		for _, line := range lines {
			text += "\n  " + line
		}
	}
	section := func(title, path string, line func(M) string) {
		rows, err := w.last(path)
		if err != nil {
			text += "\n" + title + ": no answer: " + err.Error()
			return
		}
		var lines []string
		for _, row := range rows {
			if one := line(row); one != "" {
				lines = append(lines, one)
			}
		}
		add(title, lines)
	}
	section("last events", "/events", func(one M) string {
		data, _ := one["data"].(M)
		object, _ := data["object"].(M)
		return fmt.Sprint(one["timestamp"], " ", one["type"], " ", object["id"])
	})
	section("last decisions", "/decisions", func(one M) string {
		by := one["source"]
		if by == nil {
			by = one["why"]
		}
		return fmt.Sprintf("%v %v=%v by %v %v", one["at"], one["decision"], one["chosen"], by, one["subject_id"])
	})
	section("refused calls", "/requests", func(one M) string {
		if status, _ := one["status"].(float64); status < 400 {
			return ""
		}
		return fmt.Sprint(one["method"], " ", one["path"], " ", one["status"], " ", one["error"])
	})
	add("near misses", w.misses)
	return text
}

// last returns the last rows of a list, the oldest of them first. Only events come newest first.
func (w *World) last(path string) ([]M, error) {
	query := url.Values{"per_page": {"1"}}
	if path == "/events" {
		query.Set("sort", "sequence")
	}
	count, err := w.control("GET", path, query, nil)
	if err != nil {
		return nil, err
	}
	meta, _ := count["meta"].(M)
	total, _ := meta["total"].(float64)
	query.Set("per_page", "30")
	query.Set("page", strconv.Itoa((int(total)-1)/30+1))
	answer, err := w.control("GET", path, query, nil)
	return list(answer["data"]), err
}
