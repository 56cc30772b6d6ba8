"""The same twelve steps in every language, against the real program."""

import base64
import os
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from finance_sandbox import Client, Problem, Sandbox, WebhookError, World, verify_webhook

RUNS = "/api/business/payroll-runs"


def test_twelve_steps(world: World) -> None:
    client = world.client
    # 1. Read a list.
    companies = client.get("/api/business/companies")
    assert companies.status == 200
    company = companies.body["data"][0]["id"]
    run = {"company_id": company, "period": "2026-01"}
    # 2. Iterate over pages.
    people = [person["id"] for person in client.paginate("/api/business/employees", company_id=company, per_page=10)]
    assert len(set(people)) == len(people) == 25
    # 3. Read a refusal, which is not sent again.
    with pytest.raises(Problem) as refused:
        client.post("/v1/payroll/run", {**run, "employees": ["emp_0000000000000"]})
    problem = refused.value
    assert (problem.status, problem.code, problem.retryable) == (404, "resource_not_found", False)
    assert problem.errors[0]["pointer"] == "/employees/0"
    assert problem.request_id and problem.request_id.startswith("req_")
    world.verify(operation="runPayroll", times=1)
    # 4. Receive webhooks.
    receiver = world.receiver("payroll_run.*")
    # 5. Lose a reply after the commit. The retry has the same key and does not pay twice.
    world.fault(on="runPayroll", lose="reply", times=1)
    accepted = client.post("/v1/payroll/run", run)
    assert (accepted.status, accepted.headers["Idempotent-Replayed"]) == (201, "true")
    id = accepted.body["data"]["id"]
    world.verify(operation="runPayroll", match={"status": 201}, times=2)
    world.verify(type="payroll_run.created", times=1)
    # 6. Take a snapshot and fork the world.
    before = world.snapshot()
    copy = world.fork()
    # 7. Advance the clock; every person is paid once.
    world.advance("30d")
    paid = client.get(f"{RUNS}/{id}").body["data"]
    assert paid["status"] == "paid"
    world.verify(type="payroll_run.paid", times=1)
    world.verify(type="payout.paid", times=paid["employee_count"])
    assert copy.client.get(f"{RUNS}/{id}").body["data"]["status"] == "calculating"
    # 8. Wait for a webhook, whose signature is checked.
    event = receiver.wait_for("payroll_run.paid")
    assert event["data"]["object"]["id"] == id and receiver.refused == []
    assert all(one["status"] == "delivered" for one in world.deliveries(event_type="payroll_run.paid"))
    # 9. Read a PDF.
    payslip = client.get("/api/business/payslips", payroll_run_id=id, per_page=1).body["data"][0]
    assert client.pdf(f"/api/business/payslips/{payslip['id']}").startswith(b"%PDF-")
    # 10. Wait as long as `Retry-After` says.
    world.fault(on="listEmployees", status=503, retry_after="1s", times=1)
    started = time.monotonic()
    assert client.get("/api/business/employees").status == 200
    assert time.monotonic() - started >= 0.99
    # 11. Go back, and let the bank refuse one payout.
    world.restore(before)
    assert client.get(f"{RUNS}/{id}").body["data"]["status"] == "calculating"
    copy.scenario("partial-failure")
    copy.client.post("/v1/payroll/run", {**run, "period": "2026-03"})
    copy.advance("30d")
    partial = copy.client.get(RUNS, period="2026-03", company_id=company).body["data"][0]
    assert (partial["status"], partial["settlement"]["failed"]) == ("partially_paid", 1)
    assert len(copy.events(type="payout.failed")) == 1
    # 12. A failed verification names the near miss; the report has events and decisions.
    with pytest.raises(AssertionError, match="/body/period.*2026-01"):
        world.verify(operation="runPayroll", match={"body": {"period": "2026-02"}})
    report = world.report()
    assert "payroll_run.created prn_" in report
    assert "payroll_run.calculate=on_time by default" in report
    assert "POST /v1/payroll/run 404 resource_not_found" in report
    assert "2026-02" in report.split("near misses:\n")[1]
    assert "payroll_run.partially_paid prn_" in copy.report()  # the last events of many


def test_webhook_signatures() -> None:
    secret, id, now = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1649367553
    body, right = b'{"email":"test@example.com","username":"test_user"}', "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
    other = "whsec_" + base64.b64encode(bytes(24)).decode()

    def headers(signature: str, at: str = str(now)) -> dict[str, str]:
        return {"Webhook-Id": id, "webhook-timestamp": at, "webhook-signature": signature}

    assert verify_webhook(secret, headers(right), body, now=now)["username"] == "test_user"
    assert verify_webhook([other, secret], headers(f"v1,AAAA v2,BBBB {right}"), body, now=now + 299)
    wrong = [
        (other, headers(right), body, now),
        (secret, headers(right), body + b" ", now),
        (secret, headers(right), body, now + 301),
        (secret, headers(right), body, now - 301),
        (secret, headers(""), body, now),
        (secret, headers("v1,naïve"), body, now),
        (secret, headers(right, ""), body, now),
        (secret, headers(right, "²"), body, now),
        # Without a secret, anyone could sign.
        ("", headers("v1,TxHn/RBa2mQ2GpApCz3ahGwUTfWQtptCladBBU+Nv9k="), body, now),
        ("whsec_no base64", headers(right), body, now),
    ]
    for key, sent, content, at in wrong:
        with pytest.raises(WebhookError):
            verify_webhook(key, sent, content, now=at)


def test_a_failing_test_prints_what_happened_in_its_world(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from finance_sandbox import Problem

        def test_that_fails(world):
            with pytest.raises(Problem):
                world.client.get("/api/business/employees/emp_0000000000000")
            assert 1 == 2

        @pytest.fixture
        def employee(world):
            return world.client.get("/api/business/employees/emp_1111111111111")

        def test_whose_fixture_fails(employee):
            pass
        """
    )
    result = pytester.runpytest_subprocess("-p", "finance_sandbox.pytest_plugin")
    result.assert_outcomes(failed=1, errors=1)
    for missing in ("0000000000000", "1111111111111"):
        result.stdout.fnmatch_lines(["*- sandbox -*", f"*GET /api/business/employees/emp_{missing} 404 resource_not_found"])


def test_the_client_gives_up_after_its_retries(world: World) -> None:
    world.fault(on="listEmployees", status=503, times=10)
    with pytest.raises(Problem) as given_up:
        Client(world.sandbox.url, world.key, retries=1).get("/api/business/employees")
    assert (given_up.value.status, given_up.value.code) == (503, "maintenance")
    world.verify(operation="listEmployees", times=2)
    world.fault(on="listCompanies", body="garbage", times=1)
    assert world.client.get("/api/business/companies").status == 200


def test_the_answers_of_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def answer(self) -> None:
            calls.append(self.command)
            self.send_response(200 if calls == ["GET", "GET"] else 503)
            self.send_header("Retry-After", formatdate(time.time() + 2, usegmt=True))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

        do_GET = do_PATCH = answer

    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # not for servers of this machine
        client = Client(f"http://127.0.0.1:{server.server_address[1]}")
        started = time.monotonic()
        assert client.get("/").status == 200
        assert 0.9 <= time.monotonic() - started <= 5  # until the date of `Retry-After`
        with pytest.raises(Problem):  # it does not say whether the change took effect
            client.request("PATCH", "/", {})
        server.shutdown()
    assert calls == ["GET", "GET", "PATCH"]


def test_errors_of_others_in_json_are_problems_and_a_method_in_lower_case_has_a_key() -> None:
    keys: list[str] = []
    body = ""

    class Proxy(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            keys.append(self.headers.get("Idempotency-Key", ""))
            self.send_response(503)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

        do_GET = do_POST = answer

    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = Client(f"http://127.0.0.1:{server.server_address[1]}", retries=1)
        for body in ('{"error":"upstream"}', '{"error":null}', '{"errors":null}', '{"errors":["a"]}', "[1]", "7", "null", '"down"'):
            keys.clear()
            with pytest.raises(Problem) as refused:
                client.request("post", "/", {})
            assert (refused.value.status, refused.value.errors, refused.value.retryable) == (503, [], True), body
            assert len(keys) == 2 and keys[0] and keys[0] == keys[1], body
        body = '{"error":{"code":"down","errors":["a",{"pointer":"/b","detail":"c"}]}}'
        with pytest.raises(Problem) as refused:
            client.get("/")
        assert (refused.value.code, refused.value.errors) == ("down", [{"pointer": "/b", "detail": "c"}])
        server.shutdown()


def test_live_updates_is_a_name_of_a_world(world: World) -> None:
    assert world.client.get("/api/business/companies").status == 200


def test_a_wrong_program_is_named() -> None:
    with pytest.raises(RuntimeError, match="no-such-program does not start: .*No such file.*SANDBOX_BIN"):
        Sandbox("/no-such-program")
    with pytest.raises(RuntimeError, match="python.* does not serve: .*SANDBOX_BIN"):
        Sandbox(sys.executable)
    with pytest.raises(RuntimeError, match="does not serve: it ended with 2"):
        Sandbox(args=["--clock", "sundial"])


@pytest.mark.parametrize("options", ["--seed 7 --clock instant", "--seed=7 --clock=instant"])
def test_the_options_of_the_server_replace_the_defaults(options: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nsandbox_options = {options}\n")
    (tmp_path / "test_info.py").write_text(
        "def test_info(world):\n"
        "    info = world.control('GET', '/info')['data']\n"
        "    assert (info['seed'], info['clock']) == (7, 'instant')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "finance_sandbox.pytest_plugin", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stdout


def test_stop_ends_the_program_cleanly() -> None:
    sandbox = Sandbox()
    assert sandbox.stop() == 0
    with pytest.raises(Problem) as lost:
        Client(sandbox.url, retries=0).get("/_sandbox/health")
    assert (lost.value.status, lost.value.code) == (0, "no_reply")


@pytest.mark.skipif(os.name == "nt", reason="this system has no signals")
def test_a_server_that_has_ended_is_named() -> None:
    with Sandbox() as sandbox:
        world = sandbox.world("killed")
        sandbox.process.kill()
        for call in (world.snapshot, world.report, lambda: sandbox.world("next")):
            with pytest.raises(Problem, match="^0 no_reply: .*; the sandbox has ended with signal 9$"):
                call()
    with Sandbox() as stopped:
        world = stopped.world("stopped")
        assert stopped.stop() == 0
        with pytest.raises(Problem, match="; the sandbox has ended with exit code 0$"):
            world.snapshot()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_does_not_keep_the_program() -> None:
    sandbox, (reader, writer) = Sandbox(), os.pipe()
    fork = os.fork()
    if fork == 0:
        sandbox.stop()  # ends nothing
        os.write(writer, b"stopped")
        time.sleep(30)
        os._exit(0)
    assert os.read(reader, 10) == b"stopped"
    assert Client(sandbox.url, retries=0).get("/_sandbox/health").status == 200
    started = time.monotonic()
    assert sandbox.stop() == 0
    assert time.monotonic() - started < 10
    os.kill(fork, 9)
    os.waitpid(fork, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_program_ends_with_its_process_although_a_fork_remains() -> None:
    script = "import os, time\nfrom finance_sandbox import Sandbox\nsandbox = Sandbox()\nfork = os.fork()\nif fork: print(sandbox.process.pid, fork, flush=True)\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        program, fork = map(int, runner.stdout.readline().split())
        runner.kill()
        deadline = time.monotonic() + 10
        while Path(f"/proc/{program}/exe").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        has_ended = not Path(f"/proc/{program}/exe").exists()
        os.kill(fork, 9)
    assert has_ended


def test_a_test_that_runs_again_has_its_world_in_its_first_state(sandbox: Sandbox) -> None:
    def state() -> list[object]:
        world = sandbox.world("again")
        found = [world.control("GET", path)["data"] for path in ("/fingerprint", "/webhook-endpoints")]
        world.control("POST", "/webhook-endpoints", {"url": "http://127.0.0.1:9/"})
        world.control("POST", "/reset", {"seed": 7})
        world.scenario("partial-failure")
        return found

    first = state()
    assert first[1] == []
    assert state() == first


def test_names_that_differ_in_what_a_key_does_not_have_have_their_own_worlds(sandbox: Sandbox) -> None:
    names = ("a b", "a-b", "a  b", "a b~1", "é", "ü", "a" * 300, "b" + "a" * 300, "live " * 48, "b" + "live " * 48)
    worlds = [sandbox.world(name) for name in names]
    keys = [world.key for world in worlds] + [world.fork().key for world in worlds]
    assert len(set(keys)) == 20
    assert (keys[0], keys[4]) == ("test_a-b", "test_-~4a99557e")
    assert keys[10].startswith("test_a-b~")
