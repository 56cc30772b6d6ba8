"""The cases of `clients/cases.json`, which all six clients share."""

import base64
import json
import pickle
import socket
import threading
import time
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any, Iterator, Optional

import pytest

from finance_sandbox import Client, Problem, WebhookError, verify_webhook

CASES = json.loads((Path(__file__).parents[2] / "cases.json").read_text(encoding="utf-8"))


class Stub:
    """Answers the requests with the bytes of `replies`, the last of them again and again, and keeps the requests."""

    def __init__(self) -> None:
        self.replies, self.slow_from = list[bytes](), None
        self.heads, self.bodies = list[str](), list[bytes]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def set(self, *replies: bytes, slow_from: Optional[int] = None) -> None:
        self.replies, self.slow_from, self.heads, self.bodies = list(replies), slow_from, [], []

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection, connection.makefile("rb") as received:
                head = "".join(line.decode() for line in iter(received.readline, b"\r\n"))
                length = ([line.split(":")[1] for line in head.lower().splitlines() if line.startswith("content-length:")] or ["0"])[0]
                self.bodies.append(received.read(int(length)))
                reply = self.replies[min(len(self.heads), len(self.replies) - 1)]
                self.heads.append(head)
                fast = len(reply) if self.slow_from is None else self.slow_from
                try:
                    connection.sendall(reply[:fast])
                    for at in range(fast, len(reply)):
                        connection.sendall(reply[at : at + 1])
                        time.sleep(0.1)
                except OSError:
                    pass  # the client does not wait for the rest


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    yield Stub()


def check_problem(problem: Problem, status: int, expected: dict[str, Any]) -> None:
    assert (problem.status, problem.code, problem.retryable) == (status, expected["code"], expected["retryable"])
    assert expected["detail"] in str(problem.detail)


def reply_of(case: dict[str, Any], reply: str) -> bytes:
    head, separator, content = reply.partition("\r\n\r\n")
    return (head + separator + content * case.get("times", 1)).encode() + base64.b64decode(case.get("content", ""))


@pytest.mark.parametrize("case", CASES["replies"], ids=lambda case: case["name"])
def test_replies(stub: Stub, case: dict[str, Any]) -> None:
    replies = [reply_of(case, reply) for reply in case.get("replies", [case.get("reply")])]
    body_at = replies[0].find(b"\r\n\r\n") + 4
    stub.set(*replies, slow_from=40 if "slow_head" in case else body_at if "slow" in case else None)
    client = Client(stub.url, retries=3 if "replies" in case else 0, timeout=1)
    started = time.monotonic()
    if "problem" not in case:
        reply = client.request(case["method"], "/")
        expected = case["json"] if "json" in case else case.get("text", "").encode()
        assert (reply.status, reply.body) == (case["status"], expected)
    else:
        with pytest.raises(Problem) as refused:
            client.request(case["method"], "/")
        check_problem(refused.value, case["status"], case["problem"])
    assert case.get("waits", 0) <= time.monotonic() - started < 3
    assert len(stub.heads) == case.get("requests", 1)
    keys = [line for head in stub.heads for line in head.splitlines() if line.lower().startswith("idempotency-key: ")]
    assert len(keys) == (len(stub.heads) if case["method"] == "POST" else 0)
    assert len(set(keys)) <= 1


@pytest.mark.parametrize("case", CASES["requests"], ids=lambda case: case["name"])
def test_requests(stub: Stub, case: dict[str, Any]) -> None:
    stub.set(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    client = Client(stub.url, headers=case.get("client_headers"))
    body = case.get("body", {}) if case["method"] == "POST" else None

    def call() -> None:
        client.request(case["method"], case["path"], body, query=case.get("query"), headers=case.get("headers"))

    if case.get("refused"):
        with pytest.raises(ValueError):
            call()
        assert stub.heads == []
        return
    call()
    first, *lines = stub.heads[0].splitlines()
    assert first.split()[1] == case["target"]
    assert (json.loads(stub.bodies[0]) if stub.bodies[0] else None) == body
    headers = [(name.lower(), value) for name, value in (line.split(": ", 1) for line in lines)]
    for name, value in case.get("sent", {}).items():
        assert [sent for given, sent in headers if given == name] == [value]
    assert case.get("unsent", "-") not in [value for _, value in headers]
    if case.get("new_key"):
        assert [bool(value.strip()) for name, value in headers if name == "idempotency-key"] == [True]


@pytest.mark.parametrize("case", CASES["pages"], ids=lambda case: case["name"])
def test_pages(stub: Stub, case: dict[str, Any]) -> None:
    stub.set(*(reply.encode() for reply in case["replies"]))
    items = Client(stub.url).paginate(case["path"], **case.get("query", {}))
    if "problem" in case:
        with pytest.raises(Problem) as refused:
            list(items)
        check_problem(refused.value, 0, case["problem"])
    else:
        assert [item["id"] for item in items] == case["ids"]
    assert [head.split()[1] for head in stub.heads] == case["targets"]


@pytest.mark.parametrize("case", CASES["webhooks"], ids=lambda case: case["name"])
def test_webhooks(case: dict[str, Any]) -> None:
    headers = {"webhook-id": case.get("id", "evt_1"), "webhook-timestamp": case["timestamp"], "webhook-signature": case["signature"]}
    headers = {name: value for name, value in headers.items() if value is not None}
    secrets, body, tolerance = case.get("secrets", case.get("secret")), base64.b64decode(case["body"]), case.get("tolerance", 300)
    if case["right"]:
        assert verify_webhook(secrets, headers, body, tolerance, float(CASES["now"])) == {"id": "evt_1"}
    else:
        with pytest.raises(WebhookError):
            verify_webhook(secrets, headers, body, tolerance, float(CASES["now"]))


def test_a_body_that_json_cannot_express_is_not_sent() -> None:
    with pytest.raises(ValueError):
        Client("http://127.0.0.1:9").post("/", {"amount": float("nan")})


def test_times_are_sent_as_the_api_writes_them(stub: Stub) -> None:
    stub.set(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    at, on = datetime(2026, 1, 31, 12, 30, tzinfo=timezone.utc), date(2026, 1, 31)
    Client(stub.url).request("POST", "/list", {"at": at, "on": on}, query={"at": at, "on": on})
    assert stub.heads[0].split()[1] == "/list?at=2026-01-31T12%3A30%3A00%2B00%3A00&on=2026-01-31"
    assert json.loads(stub.bodies[0]) == {"at": "2026-01-31T12:30:00+00:00", "on": "2026-01-31"}


def test_a_problem_can_be_sent_to_another_process() -> None:
    problem = Problem(409, {"code": "busy", "errors": [{"pointer": "/a"}]}, 2, "text")
    copy = pickle.loads(pickle.dumps(problem))
    assert (str(copy), copy.status, copy.body, copy.retry_after, copy.detail) == (str(problem), 409, problem.body, 2, "text")
