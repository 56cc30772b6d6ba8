"""The cases of `clients/cases.json`, which all six clients share."""

import base64
import json
import socket
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

from finance_sandbox import Client, Problem, WebhookError, verify_webhook

CASES = json.loads((Path(__file__).parents[2] / "cases.json").read_text(encoding="utf-8"))


class Stub:
    """Answers each request with the bytes of `reply`, and keeps the head of the request."""

    def __init__(self) -> None:
        self.reply, self.slow, self.heads = b"", False, list[str]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection, connection.makefile("rb") as received:
                head = "".join(line.decode() for line in iter(received.readline, b"\r\n"))
                received.read(int(([line.split(":")[1] for line in head.lower().splitlines() if line.startswith("content-length:")] or ["0"])[0]))
                self.heads.append(head)
                start, _, body = self.reply.partition(b"\r\n\r\n")
                connection.sendall(start + b"\r\n\r\n")
                try:
                    for part in [body[at : at + 1] for at in range(len(body))] if self.slow else [body]:
                        connection.sendall(part)
                        time.sleep(0.1 if self.slow else 0)
                except OSError:
                    pass  # the client does not wait for the rest


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    yield Stub()


@pytest.mark.parametrize("case", CASES["replies"], ids=lambda case: case["name"])
def test_replies(stub: Stub, case: dict[str, Any]) -> None:
    stub.reply, stub.slow, stub.heads = case["reply"].encode(), case.get("slow", False), []
    client = Client(stub.url, retries=0, timeout=1)
    if "problem" not in case:
        reply = client.request(case["method"], "/")
        assert (reply.status, reply.body) == (case["status"], b"")
    else:
        with pytest.raises(Problem) as refused:
            client.request(case["method"], "/")
        problem, expected = refused.value, case["problem"]
        assert (problem.status, problem.code, problem.retryable) == (case["status"], expected["code"], expected["retryable"])
        assert expected["detail"] in str(problem.detail)
    assert len(stub.heads) == 1


@pytest.mark.parametrize("case", CASES["requests"], ids=lambda case: case["name"])
def test_requests(stub: Stub, case: dict[str, Any]) -> None:
    stub.reply, stub.slow, stub.heads = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", False, []
    client = Client(stub.url, retries=0, headers=case.get("client_headers"))
    body = {} if case["method"] == "POST" else None
    client.request(case["method"], case["path"], body, query=case.get("query"), headers=case.get("headers"))
    first, *lines = stub.heads[0].splitlines()
    assert first.split()[1] == case["target"]
    headers = [(name.lower(), value) for name, value in (line.split(": ", 1) for line in lines)]
    for name, value in case.get("sent", {}).items():
        assert [sent for given, sent in headers if given == name] == [value]
    assert case.get("unsent", "-") not in [value for _, value in headers]


@pytest.mark.parametrize("case", CASES["webhooks"], ids=lambda case: case["name"])
def test_webhooks(case: dict[str, Any]) -> None:
    headers = {"webhook-id": "evt_1", "webhook-timestamp": case["timestamp"], "webhook-signature": case["signature"]}
    body = base64.b64decode(case["body"])
    if case["right"]:
        assert verify_webhook(case["secret"], headers, body, now=float(CASES["now"])) == {"id": "evt_1"}
    else:
        with pytest.raises(WebhookError):
            verify_webhook(case["secret"], headers, body, now=float(CASES["now"]))


def test_a_body_that_json_cannot_express_is_not_sent() -> None:
    with pytest.raises(ValueError):
        Client("http://127.0.0.1:9").post("/", {"amount": float("nan")})
