package sandboxtest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
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
	matches(t, strings.Join(fake.log, "\n"), "GET /api/business/employees/emp_0000000000000 404 resource_not_found")
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
