"""The test kit: starts the program, gives each test a world of its own, and controls that world."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import sysconfig
import threading
import weakref
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Sequence

from .client import Client, Problem
from .webhook import WebhookError, verify_webhook


def program() -> str:
    """The program: `$SANDBOX_BIN`, or `sandbox` of this Python environment or of the `PATH`."""
    beside = os.path.join(sysconfig.get_path("scripts"), "sandbox.exe" if os.name == "nt" else "sandbox")
    found = os.environ.get("SANDBOX_BIN") or (beside if os.path.exists(beside) else shutil.which("sandbox"))
    if not found:
        raise FileNotFoundError("the program `sandbox` was not found: set SANDBOX_BIN")
    return found


_running: weakref.WeakSet[Sandbox] = weakref.WeakSet()


def _release() -> None:
    """A fork of this process has a copy of each pipe, which would keep the servers alive."""
    for one in _running:
        for pipe in (one.process.stdin, one.process.stdout):
            if pipe:
                pipe.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release)


class Sandbox:
    """A running sandbox. It ends with this process, even if the process is killed."""

    _forks = itertools.count(1)

    def __init__(self, binary: str | None = None, seed: int = 42, clock: str = "manual", args: Sequence[str] = ()) -> None:
        command = [binary or program(), "--port", "0", "--quiet", "--exit-with-stdin", *args]
        for flag, value in (("--seed", str(seed)), ("--clock", clock)):
            if not any(arg == flag or arg.startswith(f"{flag}=") for arg in args):  # the program refuses a repeated flag
                command += [flag, value]
        env = {name: value for name, value in os.environ.items() if name != "PORT" and not name.startswith("SANDBOX_")}
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
        except OSError as lost:
            raise RuntimeError(f"{command[0]} does not start: {lost}; SANDBOX_BIN names another program") from lost
        self._owner = os.getpid()
        _running.add(self)
        assert self.process.stdout is not None
        ready = self.process.stdout.readline()
        if not ready.startswith("listening on "):
            self.process.communicate(timeout=10) if not ready else self.process.kill()
            raise RuntimeError(f"{command[0]} does not serve: {ready.strip() or f'it ended with {self.process.returncode}'}; SANDBOX_BIN names another program")
        self.url = ready[len("listening on ") :].strip()

    def world(self, name: str) -> World:
        """A world of its own, in its first state. The name of the test selects it."""
        # A key with `_live_` would be refused as a live one.
        usable = re.sub(r"(^|[_-])live", r"\g<0>.", re.sub(r"[^!-~]+", "-", name), flags=re.IGNORECASE)
        # A `-` replaces one space, and `~` begins what is added. A name that has them could get the key of another name.
        if len(usable) > 240 or re.search("[^ -,.-}]|  ", name):
            usable = f"{usable[-231:]}~{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
        world = World(self, f"test_{usable}")
        world.control("DELETE", "/world")  # a reset keeps the scenario, seed and endpoints of an earlier run of this test
        return world

    def ending(self) -> str | None:
        """How the program has ended, such as `exit code 0`. None while it runs, and in a fork of the process that started it."""
        if os.getpid() != self._owner:
            return None
        try:
            code = self.process.wait(timeout=1)  # its connections end a moment before
        except subprocess.TimeoutExpired:
            return None
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def stop(self) -> int:
        """Ends the server and returns its exit code. Does nothing in a fork of the process that started it."""
        if os.getpid() != self._owner:
            return 0
        if os.name != "nt" and self.process.poll() is None:
            self.process.terminate()  # it stops cleanly, also if another process holds its standard input open
        self.process.communicate()
        return self.process.returncode

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class World:
    """The world of one test. `client` is a client of it, for the code under test."""

    def __init__(self, sandbox: Sandbox, key: str) -> None:
        self.sandbox, self.key, self.client = sandbox, key, Client(sandbox.url, key)
        # Never repeated: the control plane has no idempotency keys.
        self._tools = Client(sandbox.url, key, retries=0, timeout=120)
        self._receivers: list[Receiver] = []
        self._misses: list[str] = []

    def control(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Calls a route below `/_sandbox`. Returns the body: `data`, and `meta` of lists."""
        try:
            return self._tools.request(method, f"/_sandbox{path}", body, query).body
        except Problem as lost:
            ending = self.sandbox.ending() if lost.status == 0 else None
            if ending is None:
                raise
            raise Problem(0, {**lost.body, "detail": f"{lost.detail}; the sandbox has ended with {ending}"}) from lost

    def _data(self, path: str, body: Any = None) -> Any:
        return self.control("POST", path, body)["data"]

    def advance(self, by: str | None = None, **body: Any) -> Any:
        """Advances the clock: `advance("10d")`, `advance(to="…")`, `advance(until="idle")`."""
        return self._data("/clock/advance", {"by": by, **body} if by else body)

    def scenario(self, name: str) -> Any:
        """Starts the world again with a scenario."""
        return self._data(f"/scenarios/{name}/load")

    def fault(self, **row: Any) -> Any:
        return self._data("/faults", row)

    def rule(self, **row: Any) -> Any:
        return self._data("/rules", row)

    def events(self, **query: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.control("GET", "/events", None, **{"per_page": 100, **query})["data"]
        return rows

    def deliveries(self, **query: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.control("GET", "/deliveries", None, **{"per_page": 100, **query})["data"]
        return rows

    def verify(self, **row: Any) -> Any:
        """Verifies calls (`operation`), events (`type`) or deliveries (`event_type`); an AssertionError unless the verdict is `pass`."""
        kind = "requests" if "operation" in row else "deliveries" if "event_type" in row else "events"
        verdict = self._data(f"/{kind}/verify", row)
        if verdict["verdict"] != "pass":
            miss = f"{kind} {row}: {verdict['verdict']}, matched {verdict['matched']}, nearest {verdict['nearest']}"
            self._misses.append(miss)
            raise AssertionError(miss)
        return verdict

    def snapshot(self) -> str:
        return str(self._data("/snapshots", {})["id"])

    def restore(self, snapshot: str) -> Any:
        return self._data(f"/snapshots/{snapshot}/restore")

    def fork(self) -> World:
        """Another world with a copy of this one."""
        copy = World(self.sandbox, f"{self.key[-240:]}~{next(Sandbox._forks)}")
        self.control("POST", f"/snapshots/{self.snapshot()}/fork", {"key": copy.key})
        return copy

    def receiver(self, *events: str) -> Receiver:
        """A local receiver of the webhooks of these types, by default of all."""
        receiver = Receiver()
        self._receivers.append(receiver)
        wanted = {"events": list(events)} if events else {}
        self.control("POST", "/webhook-endpoints", {"url": receiver.url, "secret": receiver.secret, **wanted})
        return receiver

    def report(self) -> str:
        """What happened in this world: the last events, decisions and refused calls, and the near misses of `verify`."""

        def last(path: str) -> list[dict[str, Any]]:
            total = self.control("GET", path, per_page=1)["meta"]["total"]
            rows: list[dict[str, Any]] = self.control("GET", path, per_page=30, page=-(-total // 30) or 1)["data"]
            return rows

        def section(title: str, rows: list[str]) -> str:
            return f"\n{title}:" + ("".join(f"\n  {row}" for row in rows) or " none")

        refused = [one for one in last("/requests") if (one["status"] or 0) >= 400]
        newest = reversed(self.events(per_page=30, sort="-sequence"))
        events = [f"{one['timestamp']} {one['type']} {one['data']['object'].get('id', '')}" for one in newest]
        decisions = [f"{one['at']} {one['decision']}={one['chosen']} by {one.get('source') or one['why']} {one['subject_id']}" for one in last("/decisions")]
        return (
            f"world {self.key} of {self.sandbox.url}"
            + section("last events", events)
            + section("last decisions", decisions)
            + section("refused calls", [f"{one['method']} {one['path']} {one['status']} {one['error']}" for one in refused])
            + section("near misses", self._misses)
        )

    def close(self) -> None:
        for receiver in self._receivers:
            receiver.close()


class Receiver:
    """A local receiver. It checks every signature and refuses a delivery that is not signed with its secret."""

    def __init__(self) -> None:
        self.secret = "whsec_" + base64.b64encode(os.urandom(24)).decode()
        self.events: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.status = 204  # of its answers
        self._arrived = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def _handler(receiver) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with receiver._arrived:
                    status = receiver.status
                    try:
                        receiver.events.append(verify_webhook(receiver.secret, dict(self.headers.items()), body))
                    except WebhookError as wrong:
                        receiver.refused.append(str(wrong))
                        status = 400
                    receiver._arrived.notify_all()
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def wait_for(self, type: str, timeout: float = 10, where: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """The first event of this type, and of this condition, that arrived or arrives in time."""
        found: list[dict[str, Any]] = []

        def look() -> bool:
            found[:] = [event for event in self.events if event["type"] == type and where(event)]
            return bool(found)

        with self._arrived:
            if not self._arrived.wait_for(look, timeout):
                types = ", ".join(dict.fromkeys(event["type"] for event in self.events)) or "nothing"
                raise AssertionError(f"{type} did not arrive in {timeout} s; received: {types}; refused: {len(self.refused)}")
        return found[0]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
