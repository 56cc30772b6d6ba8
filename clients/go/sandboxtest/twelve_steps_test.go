package sandboxtest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	sandbox "finance-sandbox"
	"finance-sandbox/sandboxtest"
)

type (
	M = sandboxtest.M
	V = url.Values
)

const runs = "/api/business/payroll-runs"

var ctx = context.Background()

// The same twelve steps in every language, against the real program.
func TestTwelveSteps(t *testing.T) {
	world := sandboxtest.NewWorld(t)
	// 1. Read a list.
	company := rows(t, world, "/api/business/companies", nil)[0]["id"].(string)
	run := M{"company_id": company, "period": "2026-01"}
	// 2. Iterate over pages.
	people := map[string]bool{}
	noError(t, world.Paginate(ctx, "/api/business/employees", V{"company_id": {company}, "per_page": {"10"}}, func(item json.RawMessage) error {
		var person struct{ ID string }
		err := json.Unmarshal(item, &person)
		people[person.ID] = true
		return err
	}))
	equal(t, len(people), 25)
	// 3. Read a refusal, which is not sent again.
	_, err := world.Post(ctx, "/v1/payroll/run", M{"company_id": company, "period": "2026-01", "employees": []string{"emp_0000000000000"}})
	var problem *sandbox.Problem
	equal(t, errors.As(err, &problem), true)
	equal(t, fmt.Sprint(problem.Status, problem.Code, problem.Retryable), "404resource_not_foundfalse")
	equal(t, problem.Errors[0].Pointer, "/employees/0")
	matches(t, problem.RequestID, "^req_")
	world.Verify(M{"operation": "runPayroll", "times": 1})
	// 4. Receive webhooks.
	receiver := world.Receiver("payroll_run.*")
	// 5. Lose a reply after the commit. The retry has the same key and does not pay twice.
	world.Fault(M{"on": "runPayroll", "lose": "reply", "times": 1})
	accepted, err := world.Post(ctx, "/v1/payroll/run", run)
	noError(t, err)
	equal(t, fmt.Sprint(accepted.Status, accepted.Header.Get("Idempotent-Replayed")), "201true")
	id := data(t, accepted)["id"].(string)
	world.Verify(M{"operation": "runPayroll", "match": M{"status": 201}, "times": 2})
	world.Verify(M{"type": "payroll_run.created", "times": 1})
	// 6. Take a snapshot and fork the world.
	before := world.Snapshot()
	copied := world.Fork()
	// 7. Advance the clock; every person is paid once.
	world.Advance("30d")
	paid := one(t, world, runs+"/"+id)
	equal(t, paid["status"], "paid")
	world.Verify(M{"type": "payroll_run.paid", "times": 1})
	world.Verify(M{"type": "payout.paid", "times": paid["employee_count"]})
	equal(t, one(t, copied, runs+"/"+id)["status"], "calculating")
	// 8. Wait for a webhook, whose signature is checked.
	event := receiver.WaitFor("payroll_run.paid")
	equal(t, event["data"].(M)["object"].(M)["id"], id)
	equal(t, len(receiver.Refused()), 0)
	for _, delivery := range world.Deliveries("event_type", "payroll_run.paid") {
		equal(t, delivery["status"], "delivered")
	}
	// 9. Read a PDF.
	payslip := rows(t, world, "/api/business/payslips", V{"payroll_run_id": {id}, "per_page": {"1"}})[0]
	pdf, err := world.PDF(ctx, "/api/business/payslips/"+payslip["id"].(string))
	noError(t, err)
	equal(t, string(pdf[:5]), "%PDF-")
	// 10. Wait as long as `Retry-After` says.
	world.Fault(M{"on": "listEmployees", "status": 503, "retry_after": "1s", "times": 1})
	started := time.Now()
	_, err = world.Get(ctx, "/api/business/employees", nil)
	noError(t, err)
	equal(t, time.Since(started) >= 990*time.Millisecond, true)
	// 11. Go back, and let the bank refuse one payout.
	world.Restore(before)
	equal(t, one(t, world, runs+"/"+id)["status"], "calculating")
	copied.Scenario("partial-failure")
	_, err = copied.Post(ctx, "/v1/payroll/run", M{"company_id": company, "period": "2026-03"})
	noError(t, err)
	copied.Advance("30d")
	partial := rows(t, copied, runs, V{"period": {"2026-03"}, "company_id": {company}})[0]
	equal(t, fmt.Sprint(partial["status"], partial["settlement"].(M)["failed"]), "partially_paid1")
	equal(t, len(copied.Events("type", "payout.failed")), 1)
	// 12. A failed verification names the near miss; the report has events and decisions.
	matches(t, world.Check(M{"operation": "runPayroll", "match": M{"body": M{"period": "2026-02"}}}).Error(), "2026-01.*/body/period|/body/period.*2026-01")
	report := world.Report()
	matches(t, report, "payroll_run.created prn_")
	matches(t, report, "payroll_run.calculate=on_time by default")
	matches(t, report, "POST /v1/payroll/run 404 resource_not_found")
	matches(t, report, "near misses:\n.*2026-02")
	matches(t, copied.Report(), "payroll_run.partially_paid prn_") // the last events of many
}

func TestWebhookSignatures(t *testing.T) {
	const secret, id, now = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1649367553
	const body, right = `{"email":"test@example.com","username":"test_user"}`, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
	other := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 24))
	verify := func(secrets []string, signature, at, body string, now int64) error {
		webhook := sandbox.NewWebhook(secrets...)
		webhook.Now = func() time.Time { return time.Unix(now, 0) }
		header := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signature}}
		return webhook.Verify(header, []byte(body))
	}
	at := fmt.Sprint(now)
	noError(t, verify([]string{secret}, right, at, body, now))
	noError(t, verify([]string{other, secret}, "v1,AAAA v2,BBBB "+right, at, body, now+299))
	for number, err := range []error{
		verify([]string{other}, right, at, body, now),
		verify([]string{secret}, right, at, body+" ", now),
		verify([]string{secret}, right, at, body, now+301),
		verify([]string{secret}, right, at, body, now-301),
		verify([]string{secret}, "", at, body, now),
		verify([]string{secret}, right, "", body, now),
		// Without a secret, anyone could sign.
		verify([]string{""}, "v1,TxHn/RBa2mQ2GpApCz3ahGwUTfWQtptCladBBU+Nv9k=", at, body, now),
		verify([]string{"whsec_no base64"}, right, at, body, now),
	} {
		equal(t, fmt.Sprint(number, err != nil), fmt.Sprint(number, true))
	}
}

// failing is a test that has failed.
type failing struct {
	testing.TB
	log      []string
	cleanups []func()
}

func (f *failing) Failed() bool         { return true }
func (f *failing) Cleanup(after func()) { f.cleanups = append(f.cleanups, after) }
func (f *failing) Logf(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func TestAFailingTestLogsWhatHappenedInItsWorld(t *testing.T) {
	fake := &failing{TB: t}
	world := sandboxtest.NewWorld(fake)
	_, err := world.Get(ctx, "/api/business/employees/emp_0000000000000", nil)
	equal(t, err != nil, true)
	for _, cleanup := range fake.cleanups {
		cleanup()
	}
	refused := "refused calls:\n  GET /api/business/employees/emp_0000000000000 404 resource_not_found"
	matches(t, strings.Join(fake.log, "\n"), "last events: none\nlast decisions: none\n"+refused+"\nnear misses: none$")
}

func TestTheClientGivesUpAfterItsRetries(t *testing.T) {
	world := sandboxtest.NewWorld(t)
	world.Retries = 1
	world.Fault(M{"on": "listEmployees", "status": 503, "times": 10})
	_, err := world.Get(ctx, "/api/business/employees", nil)
	var problem *sandbox.Problem
	equal(t, errors.As(err, &problem), true)
	equal(t, problem.Code, "maintenance")
	world.Verify(M{"operation": "listEmployees", "times": 2})
	world.Fault(M{"on": "listCompanies", "body": "garbage", "times": 1})
	_, err = world.Get(ctx, "/api/business/companies", nil)
	noError(t, err)
}

func TestTheAnswersOfAProxy(t *testing.T) {
	var calls []string
	proxy := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		calls = append(calls, request.Method)
		answer.Header().Set("Retry-After", time.Now().Add(2*time.Second).UTC().Format(http.TimeFormat))
		if strings.Join(calls, " ") != "GET GET" {
			answer.WriteHeader(503)
		}
	}))
	defer proxy.Close()
	client, started := sandbox.New(proxy.URL, "test_key"), time.Now()
	_, err := client.Get(ctx, "/", nil)
	noError(t, err)
	waited := time.Since(started) // until the date of Retry-After
	equal(t, waited >= 900*time.Millisecond && waited < 5*time.Second, true)
	_, err = client.Do(ctx, "PATCH", "/", nil, M{}, nil) // the proxy does not say whether the change took effect
	equal(t, err != nil, true)
	equal(t, fmt.Sprint(calls), "[GET GET PATCH]")
}

func TestErrorsOfOthersInJSONAreProblemsAndAMethodInLowerCaseHasAKey(t *testing.T) {
	body, keys := "", []string{}
	proxy := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		keys = append(keys, request.Header.Get("Idempotency-Key"))
		writer.Header().Set("Content-Type", "application/json")
		writer.WriteHeader(503)
		fmt.Fprint(writer, body)
	}))
	defer proxy.Close()
	client := sandbox.New(proxy.URL, "test_key")
	client.Retries = 1
	var problem *sandbox.Problem
	for _, body = range []string{`{"error":"upstream"}`, `{"error":null}`, `{"errors":null}`, `{"errors":["a"]}`, `[1]`, `7`, `null`, `"down"`} {
		keys = nil
		_, err := client.Do(ctx, "post", "/", nil, M{}, nil)
		equal(t, errors.As(err, &problem) && problem.Status == 503 && problem.Retryable && len(problem.Errors) == 0, true)
		equal(t, len(keys) == 2 && keys[0] != "" && keys[0] == keys[1], true)
	}
	body = `{"error":{"code":"down","errors":["a",{"pointer":"/b","detail":"c"}]}}`
	_, err := client.Get(ctx, "/", nil)
	equal(t, errors.As(err, &problem) && problem.Code == "down", true)
	equal(t, fmt.Sprint(problem.Errors), "[{/b  c}]")
}

func TestPagesBeginWhereTheCallerSays(t *testing.T) {
	world, count := sandboxtest.NewWorld(t), 0
	each := func(json.RawMessage) error { count++; return nil }
	noError(t, world.Paginate(ctx, "/api/business/employees", V{"page": {"3"}, "per_page": {"30"}}, each))
	equal(t, count, 15)
}

func Test_live_updates_is_a_name_of_a_world(t *testing.T) {
	_, err := sandboxtest.NewWorld(t).Get(ctx, "/api/business/companies", nil)
	noError(t, err)
}

// fatal is a test whose Fatal panics with the message.
type fatal struct{ testing.TB }

func (f fatal) Fatal(message ...any) { panic(fmt.Sprint(message...)) }

func TestAWrongProgramIsNamed(t *testing.T) {
	named := func(program, expected string, flags ...string) {
		t.Helper()
		t.Setenv("SANDBOX_BIN", program)
		defer func() { matches(t, fmt.Sprint(recover()), expected) }()
		sandboxtest.Start(fatal{t}, flags...)
	}
	real := os.Getenv("SANDBOX_BIN")
	named("/no-such-program", "/no-such-program does not start: .*no such file.*SANDBOX_BIN")
	named("echo", "echo does not serve: --port 0 .*; SANDBOX_BIN")
	named("true", "true does not serve: it ended with 0; SANDBOX_BIN")
	named(real, "does not serve: it ended with 2; SANDBOX_BIN", "--clock", "sundial")
}

func TestATestThatRunsAgainHasItsWorldInItsFirstState(t *testing.T) {
	state := func() string {
		world := sandboxtest.NewWorld(t)
		found := fmt.Sprint(world.Control("GET", "/fingerprint", nil, nil)["data"], world.Control("GET", "/webhook-endpoints", nil, nil)["data"])
		world.Control("POST", "/webhook-endpoints", nil, M{"url": "http://127.0.0.1:9/"})
		world.Control("POST", "/reset", nil, M{"seed": 7})
		world.Scenario("partial-failure")
		return found
	}
	first := state()
	matches(t, first, ` \[\]$`)
	equal(t, state(), first)
}

// named is a test with another name.
type named struct {
	testing.TB
	name string
}

func (n named) Name() string { return n.name }

func TestNamesThatDifferInWhatAKeyDoesNotHaveHaveTheirOwnWorlds(t *testing.T) {
	keys := map[string]bool{}
	long, live := strings.Repeat("a", 300), strings.Repeat("live ", 48)
	for _, name := range []string{"a b", "a-b", "a  b", "a b~1", "é", "ü", long, "b" + long, live, "b" + live} {
		world := sandboxtest.NewWorld(named{t, name})
		keys[world.APIKey], keys[world.Fork().APIKey] = true, true
	}
	equal(t, len(keys), 20)
	equal(t, keys["test_a-b"] && keys["test_-~4a99557e"], true)
}

func TestAServerThatHasEndedIsNamed(t *testing.T) {
	stopped, real, folder := sandboxtest.Start(t), os.Getenv("SANDBOX_BIN"), t.TempDir()
	noError(t, os.WriteFile(folder+"/program", []byte("#!/bin/sh\necho $$ >"+folder+"/id\nexec "+real+" \"$@\"\n"), 0o700))
	t.Setenv("SANDBOX_BIN", folder+"/program")
	killed := sandboxtest.Start(t)
	world, other := killed.World(t), stopped.World(t)
	text, err := os.ReadFile(folder + "/id")
	noError(t, err)
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	noError(t, err)
	program, err := os.FindProcess(id)
	noError(t, err)
	noError(t, program.Kill())
	matches(t, world.Check(M{"type": "payroll_run.paid"}).Error(), "^0 no_reply: .*; the sandbox has ended with signal killed$")
	matches(t, world.Report(), "0 no_reply: .*; the sandbox has ended with signal killed\n")
	noError(t, stopped.Stop())
	noError(t, stopped.Stop())
	matches(t, other.Check(M{"type": "payroll_run.paid"}).Error(), "; the sandbox has ended with exit code 0$")
}

func TestStopEndsTheProgramCleanly(t *testing.T) {
	server := sandboxtest.Start(t, "--clock", "instant")
	noError(t, server.Stop())
	client := sandbox.New(server.URL, "test_key")
	client.Retries = 0
	_, err := client.Get(ctx, "/_sandbox/health", nil)
	var problem *sandbox.Problem
	equal(t, errors.As(err, &problem) && problem.Status == 0 && problem.Code == "no_reply", true)
}

func data(t *testing.T, reply *sandbox.Reply) M {
	t.Helper()
	var body struct{ Data M }
	noError(t, reply.JSON(&body))
	return body.Data
}

func one(t *testing.T, world *sandboxtest.World, path string) M {
	t.Helper()
	reply, err := world.Get(ctx, path, nil)
	noError(t, err)
	return data(t, reply)
}

func rows(t *testing.T, world *sandboxtest.World, path string, query V) []M {
	t.Helper()
	reply, err := world.Get(ctx, path, query)
	noError(t, err)
	var body struct{ Data []M }
	noError(t, reply.JSON(&body))
	return body.Data
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, actual, expected any) {
	t.Helper()
	if actual != expected {
		t.Fatalf("%v is not %v", actual, expected)
	}
}

func matches(t *testing.T, text, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		t.Fatalf("%s\ndoes not match %s", text, pattern)
	}
}
