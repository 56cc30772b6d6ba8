"""Has a sandbox send webhooks and verifies them with `standardwebhooks`; then signs some and has `sandbox listen` judge.

    python webhooks_verify.py BINARY DELIVERIES

Writes the deliveries to the file, a line of JSON each, for another package to verify: what is expected, the secrets, the
headers and the body.
"""

import base64
import contextlib
import datetime
import http.server
import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from standardwebhooks import Webhook, WebhookVerificationError

PATIENCE = 30
SIGNED = ("webhook-id", "webhook-timestamp", "webhook-signature")
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")
    print(f"ok  PyPI  {what}")


@contextlib.contextmanager
def running(*command):
    """A process of ours, ended at the end."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Receiver(http.server.ThreadingHTTPServer):
    """Takes every delivery; its path says which endpoint it was for."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.came = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self):
        return self.came.get(timeout=PATIENCE)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name: self.headers[name] for name in SIGNED}
        self.server.came.put((self.path, headers, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Sandbox:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def post(self, path, body, key):
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return json.load(reply)

    def endpoint(self, url, key, **more):
        made = self.post("/_sandbox/webhook-endpoints", {"url": url, **more}, key)["data"]
        return made["endpoint"]["id"], made["secret"]


def verifies(secret, headers, body):
    try:
        Webhook(secret).verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


def what_it_sends(sandbox, kept):
    def keep(valid, invalid, headers, body):
        line = {"valid": valid, "invalid": invalid, "headers": headers, "body": base64.b64encode(body).decode()}
        kept.write(json.dumps(line) + "\n")

    receiver = Receiver()
    url = f"http://127.0.0.1:{receiver.server_port}"
    _, drawn = sandbox.endpoint(f"{url}/drawn", "ci")
    _, given = sandbox.endpoint(f"{url}/given", "ci", secret=SECRET)
    rotated, old = sandbox.endpoint(f"{url}/rotated", "ci")
    new = sandbox.post(f"/_sandbox/webhook-endpoints/{rotated}/rotate-secret", {}, "ci")["data"]["secret"]
    check(given == SECRET and len({drawn, given, old, new}) == 4, "four endpoint secrets, all different")
    valid = {"/drawn": [drawn], "/given": [given], "/rotated": [old, new]}
    for event in ("employee.created", "payout.paid"):
        sandbox.post("/_sandbox/trigger", {"type": event}, "ci")
    came = []
    waiting = set(valid)
    while waiting:  # `payout.paid` brings others before it
        path, headers, body = receiver.take()
        came.append((path, headers, body))
        if json.loads(body)["type"] == "payout.paid":
            waiting.discard(path)
    for path, secrets in valid.items():
        mine = [(headers, body) for place, headers, body in came if place == path]
        others = [secret for secret in (drawn, given, old, new) if secret not in secrets]
        for headers, body in mine:
            signatures = headers["webhook-signature"].split(" ")
            good = len(signatures) == len(secrets) and headers["webhook-id"] == json.loads(body)["id"]
            if not good or not all(verifies(secret, headers, body) for secret in secrets):
                sys.exit(f"FAILED: a delivery to {path} does not verify: {headers}")
            if any(verifies(secret, headers, body) for secret in others) or verifies(secrets[0], headers, body + b" "):
                sys.exit(f"FAILED: a delivery to {path} verifies that must not: {headers}")
            keep(secrets, others, headers, body)
        types = {json.loads(body)["type"] for _, body in mine}
        check({"employee.created", "payout.paid"} <= types,
              f"{len(mine)} deliveries to {path} verify by {len(secrets)} secret(s) and by no other")

    # A scenario that spoils signatures is a negative control for everything above.
    sandbox.post("/_sandbox/scenarios/webhook-bad-signature/load", {}, "spoilt")
    _, secret = sandbox.endpoint(f"{url}/spoilt", "spoilt")
    sandbox.post("/_sandbox/trigger", {"type": "payroll_run.paid"}, "spoilt")
    good = True
    while good:  # until the one, or patience ends
        path, headers, body = receiver.take()
        good = path != "/spoilt" or verifies(secret, headers, body)
    keep([], [secret], headers, body)
    check(json.loads(body)["type"] == "payroll_run.paid", "the one delivery that a scenario spoilt does not verify")


def what_it_judges(binary):
    with running(binary, "listen", "--json", "--secret", SECRET) as listening:
        url = next(line.split()[2] for line in listening.stderr if line.startswith("listening on "))
        now = datetime.datetime.now(datetime.timezone.utc)
        past = now - datetime.timedelta(minutes=6)
        body = '{"type":"payout.paid","data":{"note":"naïve"}}'
        cases = [
            ("valid", SECRET, now, body, body),
            ("invalid", SECRET, now, body, body.replace("paid", "lost")),
            ("invalid", OTHER, now, body, body),
            ("stale", SECRET, past, body, body),
        ]
        for number, (expected, secret, at, signed, sent) in enumerate(cases):
            id_ = f"evt_{number}"
            headers = dict(zip(SIGNED, (id_, str(int(at.timestamp())), Webhook(secret).sign(id_, at, signed))))
            request = urllib.request.Request(url, sent.encode(), {"Content-Type": "application/json", **headers})
            with contextlib.suppress(urllib.error.HTTPError):
                urllib.request.urlopen(request, timeout=PATIENCE).close()
            judged = json.loads(listening.stdout.readline())
            check((judged["id"], judged["signature"]) == (id_, expected), f"`sandbox listen` judges {expected}: {id_}")


def main(binary, deliveries):
    with tempfile.TemporaryDirectory() as folder, open(deliveries, "w", encoding="utf-8") as kept:
        port = pathlib.Path(folder, "port")
        with running(binary, "--port", "0", "--port-file", str(port), "--quiet") as server:
            deadline = time.monotonic() + PATIENCE
            while not (port.exists() and port.read_text()):
                if server.poll() is not None or time.monotonic() > deadline:
                    sys.exit("FAILED: the sandbox does not start: " + server.stderr.read())
                time.sleep(0.05)
            what_it_sends(Sandbox(int(port.read_text())), kept)
    what_it_judges(binary)


main(*sys.argv[1:])
