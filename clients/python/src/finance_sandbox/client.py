"""A thin client: it implements the conventions of the API, and no single operation. It has no dependencies."""

from __future__ import annotations

import email.utils
import functools
import http.client
import io
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass
from datetime import date
from typing import Any, Iterator, Mapping

# A server of this machine is called without the proxy of the environment.
_LOCAL = re.compile(r"(localhost|127\.[\d.]+|\[::1\])(:|$)")
_JSON = re.compile(r"[^;]*[/+]json\s*(;|$)", re.IGNORECASE)
_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")


class _Timed(io.RawIOBase):
    """Reads a socket until the deadline. The timeout of a socket begins again with each part of a reply."""

    def __init__(self, sock: Any, deadline: float) -> None:
        self._sock, self._deadline, self.has_ended = sock, deadline, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the reply is not complete within the time limit")
        self._sock.settimeout(left)
        count: int = self._sock.recv_into(buffer)
        self.has_ended = count == 0
        return count


class _Response(http.client.HTTPResponse):
    """http.client accepts a head that ends too early and a length that is no number."""

    deadline = 0.0

    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._timed = _Timed(sock, self.deadline)
        self._socket_file = self.fp  # open until this reply is closed: the connection closes its socket before
        self.fp = io.BufferedReader(self._timed)

    def begin(self) -> None:
        super().begin()
        if self._timed.has_ended:
            raise http.client.IncompleteRead(b"")
        if self.length is None and not self.chunked and "Content-Length" in self.headers:
            raise http.client.HTTPException("the Content-Length is no number")

    def close(self) -> None:
        super().close()
        self._socket_file.close()


def _limited(connection: type[http.client.HTTPConnection]) -> type[http.client.HTTPConnection]:
    """Connections whose timeout includes the whole reply."""

    class Limited(connection):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, timeout: float, **options: Any) -> None:
            super().__init__(*args, timeout=timeout, **options)
            self.response_class = type("Limited", (_Response,), {"deadline": time.monotonic() + timeout})

    return Limited


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_limited(http.client.HTTPConnection), request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_limited(http.client.HTTPSConnection), request)


class _Unfollowed(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: urllib would send the API key to the other host, and read where it should write."""

    def redirect_request(self, *_: Any) -> None:
        return None


@functools.lru_cache(maxsize=None)
def _opener(is_local: bool) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Unfollowed, _Http, _Https, *([urllib.request.ProxyHandler({})] if is_local else []))


class Problem(Exception):
    """A refusal of the API (RFC 9457), or a reply that cannot be read (`status` 0)."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: float = 0, text: str = "") -> None:
        self.status, self.body, self.retry_after, self._text = status, body, retry_after, text
        self.code: str = _text(body, "code") or "unknown"
        self.title: str | None = _text(body, "title")
        self.detail: str | None = _text(body, "detail") or self.title or text or None
        errors = body.get("errors")  # a proxy can send anything
        self.errors: list[dict[str, Any]] = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
        self.request_id: str | None = _text(body, "request_id")
        says = body.get("retryable")
        self.is_explicit = isinstance(says, bool)  # whether the API itself says if it is retryable
        self.retryable: bool = says if isinstance(says, bool) else status in (0, 408, 429, 502, 503, 504)
        places = "".join(f"\n  {error.get('pointer')}: {error.get('detail')}" for error in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail or 'no detail'}{places}")

    def __reduce__(self) -> tuple[Any, ...]:
        """A pool of processes sends it to another process."""
        return Problem, (self.status, self.body, self.retry_after, self._text)


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
            items = body.get("data") if isinstance(body, dict) else None
            if not isinstance(items, list):
                raise Problem(0, {"code": "invalid_reply", "detail": f"GET {path}: the reply is not a list", "retryable": False})
            yield from items
            page, seen = page + 1, seen + len(items)
            meta = body.get("meta")
            total = meta.get("total") if isinstance(meta, dict) else None
            if not items or (from_start and isinstance(total, int) and seen >= total):
                return

    def request(self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None,
                headers: Mapping[str, str] | None = None, idempotency_key: str | None = None) -> Reply:  # fmt: skip
        """Sends a request. A POST has an `Idempotency-Key`, which is the same in every retry."""
        method = method.upper()
        parameters = urllib.parse.urlencode(_pairs(query or {}))
        url = self.base_url + _target(path) + (("&" if "?" in path else "?") + parameters if parameters else "")
        sent = {"authorization": f"Bearer {self.api_key}", "accept": "application/json"}
        if body is not None:
            sent["content-type"] = "application/json"
        sent.update(_lower(self.headers))
        if method == "POST":
            sent["idempotency-key"] = idempotency_key or ""
        sent.update(_lower(headers or {}))
        if method == "POST" and not sent["idempotency-key"].strip():
            sent["idempotency-key"] = str(uuid.uuid4())
        data = None if body is None else json.dumps(body, allow_nan=False, default=_iso).encode()
        attempt = 0
        while True:
            try:
                return self._exchange(urllib.request.Request(url, data, sent, method=method))
            except Problem as problem:
                # A PATCH has no idempotency key: without an answer of the API, the client cannot know whether it took effect.
                unsafe = method == "PATCH" and not problem.is_explicit
                if not problem.retryable or unsafe or attempt >= self.retries or problem.retry_after > 60:
                    raise
                time.sleep(problem.retry_after or min(0.1 * 2**attempt, 2) * random.uniform(0.5, 1))
            attempt += 1

    def _exchange(self, request: urllib.request.Request) -> Reply:
        try:
            try:
                reply = _opener(bool(_LOCAL.match(request.host))).open(request, timeout=self.timeout)
            except urllib.error.HTTPError as refused:
                reply = refused
            with reply:
                content = _content(reply)
        except (OSError, http.client.HTTPException) as lost:
            raise Problem(0, {"code": "no_reply", "detail": f"{request.method} {request.selector}: {lost}"}) from lost
        parsed: Any = content
        has_content = request.method != "HEAD" and reply.status not in (204, 304)
        if has_content and _JSON.match(reply.headers.get("Content-Type", "")):
            parsed = parse(content)
        if 300 <= reply.status < 400 and reply.status != 304:
            detail = f"{request.method} {request.selector}: the reply redirects to {reply.headers.get('Location', '')}"
            raise Problem(reply.status, {"code": "redirect", "detail": detail})
        if reply.status >= 400:
            text = content.decode(errors="replace")
            problem = parsed if isinstance(parsed, dict) else {"detail": text}
            inner = problem.get("error")
            raise Problem(reply.status, inner if isinstance(inner, dict) else problem, _seconds(reply.headers.get("Retry-After", "")), text)
        if parsed is None:
            raise Problem(0, {"code": "invalid_reply", "detail": f"{request.method} {request.selector}: the body is not JSON"})
        return Reply(reply.status, reply.headers, parsed)


def _target(path: str) -> str:
    """The path and its query, with everything encoded that a URL does not have. What is encoded stays."""
    path = re.sub("%(?![0-9A-Fa-f]{2})", "%25", path)
    return ("" if path.startswith("/") else "/") + urllib.parse.quote(path, safe="!$&()*+,/:;=?@%")


def _pairs(query: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The parameters of a query. A list repeats the name; None is left out."""
    listed = [(name, one) for name, value in query.items() for one in (value if isinstance(value, (list, tuple)) else [value])]
    return [(name, _parameter(one)) for name, one in listed if one is not None]


def _parameter(value: Any) -> Any:
    return _iso(value) if isinstance(value, date) else str(value).lower() if isinstance(value, bool) else value


def _iso(value: Any) -> str:
    """A date, also one with a time."""
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not a type of JSON")


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _content(reply: Any) -> bytes:
    expected, content = reply.length, bytearray()
    while part := reply.read1(65536):
        content += part
    if expected is not None and len(content) < expected:
        raise http.client.IncompleteRead(bytes(content), expected - len(content))
    return bytes(content)


def parse(content: bytes) -> Any:
    """The value of a JSON document; None if it is none."""

    def refuse(constant: str) -> None:
        raise ValueError(f"JSON does not have {constant}")

    try:
        return json.loads(content.decode(), parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def _seconds(retry_after: str) -> float:
    """The seconds of a `Retry-After`, which is a number or a date."""
    if re.fullmatch("[0-9]+", retry_after):
        return float(retry_after)
    try:
        until = email.utils.parsedate_to_datetime(retry_after if _DATE.fullmatch(retry_after) else "")
    except (TypeError, ValueError):
        return 0
    return max(0, until.timestamp() - time.time())
