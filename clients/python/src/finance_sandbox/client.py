"""A thin client: it implements the conventions of the API, and no single operation. It has no dependencies."""

from __future__ import annotations

import email.utils
import functools
import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

# A server of this machine is called without the proxy of the environment.
_LOCAL = re.compile(r"(localhost|127\.[\d.]+|\[::1\])(:|$)")


class _Unfollowed(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: urllib would send the API key to the other host, and read where it should write."""

    def redirect_request(self, *_: Any) -> None:
        return None


@functools.lru_cache(maxsize=None)
def _opener(is_local: bool) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Unfollowed, *([urllib.request.ProxyHandler({})] if is_local else []))


class Problem(Exception):
    """A refusal of the API (RFC 9457), or a reply that cannot be read (`status` 0)."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: float = 0) -> None:
        self.status, self.body, self.retry_after = status, body, retry_after
        self.code: str = body.get("code", "unknown")
        self.title: str | None = body.get("title")
        self.detail: str | None = body.get("detail")
        errors = body.get("errors")  # a proxy can send anything
        self.errors: list[dict[str, Any]] = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
        self.request_id: str | None = body.get("request_id")
        self.retryable: bool = body.get("retryable", status in (0, 408, 429, 502, 503, 504))
        places = "".join(f"\n  {error.get('pointer')}: {error.get('detail')}" for error in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail or self.title or 'no detail'}{places}")


@dataclass(frozen=True)
class Reply:
    """A success. `body` is parsed JSON, or the bytes of any other content."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Client:
    """Calls the API with a key; in the sandbox the key selects the world. `retries` follow the first attempt.

    `timeout` is the time limit of an attempt in seconds. `headers` are sent with every request.
    """

    def __init__(self, base_url: str = "http://127.0.0.1:4747", api_key: str = "test_key", retries: int = 3,
                 timeout: float = 30, headers: Mapping[str, str] | None = None) -> None:  # fmt: skip
        self.base_url, self.api_key, self.retries, self.timeout = base_url.rstrip("/"), api_key, retries, timeout
        self.headers = dict(headers or {})

    def get(self, path: str, **query: Any) -> Reply:
        return self.request("GET", path, query=query)

    def post(self, path: str, body: Any = None, **options: Any) -> Reply:
        return self.request("POST", path, body, **options)

    def pdf(self, path: str, **query: Any) -> bytes:
        """The bytes of a PDF."""
        body: bytes = self.request("GET", path, query=query, headers={"Accept": "application/pdf"}).body
        return body

    def paginate(self, path: str, **query: Any) -> Iterator[Any]:
        """The items of a list, one page at a time."""
        page, seen = int(query.pop("page", 1)), 0
        from_start = page == 1
        while True:
            body = self.get(path, page=page, **query).body
            yield from body["data"]
            page, seen = page + 1, seen + len(body["data"])
            if not body["data"] or (from_start and seen >= body["meta"]["total"]):
                return

    def request(self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None,
                headers: Mapping[str, str] | None = None, idempotency_key: str | None = None) -> Reply:  # fmt: skip
        """Sends a request. A POST has an `Idempotency-Key`, which is the same in every retry."""
        method = method.upper()
        parameters = urllib.parse.urlencode(_pairs(query or {}))
        url = self.base_url + path + (("&" if "?" in path else "?") + parameters if parameters else "")
        sent = {"authorization": f"Bearer {self.api_key}", "accept": "application/json"}
        if body is not None:
            sent["content-type"] = "application/json"
        sent.update(_lower(self.headers))
        if method == "POST":
            sent["idempotency-key"] = idempotency_key or str(uuid.uuid4())
        sent.update(_lower(headers or {}))
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        attempt = 0
        while True:
            try:
                return self._exchange(urllib.request.Request(url, data, sent, method=method))
            except Problem as problem:
                # A PATCH has no idempotency key: without an answer of the API, the client cannot know whether it took effect.
                unsafe = method == "PATCH" and "retryable" not in problem.body
                if not problem.retryable or unsafe or attempt >= self.retries or problem.retry_after > 60:
                    raise
                time.sleep(problem.retry_after or min(0.1 * 2**attempt, 2) * random.uniform(0.5, 1))
            attempt += 1

    def _exchange(self, request: urllib.request.Request) -> Reply:
        deadline = time.monotonic() + self.timeout
        try:
            try:
                reply = _opener(bool(_LOCAL.match(request.host))).open(request, timeout=self.timeout)
            except urllib.error.HTTPError as refused:
                reply = refused
            with reply:
                content = _content(reply, deadline)
        except (OSError, http.client.HTTPException) as lost:
            raise Problem(0, {"code": "no_reply", "detail": f"{request.method} {request.selector}: {lost}"}) from lost
        parsed: Any = content
        has_content = request.method != "HEAD" and reply.status not in (204, 304)
        if has_content and "json" in reply.headers.get_content_type():
            try:
                parsed = json.loads(content)
            except ValueError:
                parsed = None
        if 300 <= reply.status < 400 and reply.status != 304:
            detail = f"{request.method} {request.selector}: the reply redirects to {reply.headers.get('Location', '')}"
            raise Problem(reply.status, {"code": "redirect", "detail": detail})
        if reply.status >= 400:
            problem = parsed if isinstance(parsed, dict) else {"detail": content.decode(errors="replace")}
            inner = problem.get("error")
            raise Problem(reply.status, inner if isinstance(inner, dict) else problem, _seconds(reply.headers.get("Retry-After", "")))
        if parsed is None:
            raise Problem(0, {"code": "invalid_reply", "detail": f"{request.method} {request.selector}: the body is not JSON"})
        return Reply(reply.status, reply.headers, parsed)


def _pairs(query: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The parameters of a query. A list repeats the name; None is left out."""
    listed = [(name, one) for name, value in query.items() for one in (value if isinstance(value, (list, tuple)) else [value])]
    return [(name, str(one).lower() if isinstance(one, bool) else one) for name, one in listed if one is not None]


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _content(reply: Any, deadline: float) -> bytes:
    """The body. The timeout of urllib begins again with each part of it."""
    expected, content = reply.length, bytearray()
    while part := reply.read1(65536):
        content += part
        if time.monotonic() > deadline:
            raise TimeoutError("the reply is not complete within the time limit")
    if expected is not None and len(content) < expected:
        raise http.client.IncompleteRead(bytes(content), expected - len(content))
    return bytes(content)


def _seconds(retry_after: str) -> float:
    """The seconds of a `Retry-After`, which is a number or a date."""
    if retry_after.isdecimal():
        return float(retry_after)
    date = email.utils.parsedate_tz(retry_after)
    return max(0, email.utils.mktime_tz(date) - time.time()) if date else 0
