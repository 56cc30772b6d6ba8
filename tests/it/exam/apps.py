"""Small apps for the tests of `sandbox exam`: python3 apps.py NAME. Each correct one is a usual design; each faulty one has one mistake."""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import random
import sys
import threading
import time
import urllib.parse
import uuid

APP = sys.argv[1]
HOST = urllib.parse.urlsplit(os.environ["SANDBOX_URL"]).netloc
AUTHORIZATION = "Bearer " + os.environ["SANDBOX_KEY"]
TIMEOUT, ATTEMPTS, UNKNOWN = 0.5, 8, 75


class NotKnown(Exception):
    """The outcome of a call is not known."""


def once(method, path, body=None, key=None):
    """One attempt: status, Retry-After, data. Silence is status 0."""
    connection = http.client.HTTPConnection(HOST, timeout=TIMEOUT)
    headers = {"Authorization": AUTHORIZATION, "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    try:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        reply = connection.getresponse()
        answer = json.loads(reply.read())
        return reply.status, float(reply.headers.get("Retry-After", 0)), answer
    except (OSError, http.client.HTTPException, ValueError):
        return 0, 0, None
    finally:
        connection.close()


def call(method, path, body=None, key=None, pause=0.05, attempts=ATTEMPTS, on_503=None):
    """Retries until the outcome is known. `key` is a key, or a function that makes one for each attempt."""
    for attempt in range(attempts):
        status, wait, answer = once(method, path, body, key() if callable(key) else key)
        if 200 <= status < 300:
            return answer["data"]
        if status and status < 500 and status != 429:
            raise SystemExit(f"{method} {path}: {answer['detail']}")
        if status == 503 and on_503:
            body, key = on_503(body)
        if pause:
            time.sleep(max(wait, pause * 2**attempt * (1 + random.random() / 4)))
    raise NotKnown


def fresh():
    return str(uuid.uuid4())


def places():
    company = call("GET", "/api/business/companies")[0]["id"]
    return company, call("GET", "/api/payments/wallets?company_id=" + company)[0]["id"]


COMPANY, WALLET = places()


def payee(name="Ada Supplies"):
    account = {"bank_code": "011", "account_number": "0000014579", "country": "NG", "currency": "NGN"}
    return {"company_id": COMPANY, "name": name, "type": "business", "account": account}


def payout(to, amount, reference, rail="instant"):
    return {"company_id": COMPANY, "wallet_id": WALLET, "beneficiary_id": to, "amount": amount,
            "currency": "NGN", "rail": rail, "reference": reference}


def pay_two(key, **how):
    """A supplier and two bills. `key` makes the key of a purchase from its name."""
    to = call("POST", "/api/payments/beneficiaries", payee(), key("supplier"), **how)["id"]
    for bill, amount in [("bill-1", 500_000), ("bill-2", 250_000)]:
        call("POST", "/api/payments/payouts", payout(to, amount, bill), key(bill), **how)


# --- correct designs --------------------------------------------------------------------------------------------------


def one_key():
    pay_two(lambda name: name)


def lists_before():
    """Random keys. Every attempt first reads whether the thing is there. The payroll has no key."""

    def until_there(find, method, path, body, key):
        for attempt in range(ATTEMPTS):
            there = find()
            if there:
                return there
            _, wait, _ = once(method, path, body, key and fresh())
            time.sleep(max(wait, 0.05 * 2**attempt))
        raise NotKnown

    def first(path, matches):
        return lambda: next((row for row in call("GET", path) if matches(row)), None)

    mine = "/api/payments/beneficiaries?per_page=100&company_id=" + COMPANY
    to = until_there(first(mine, lambda row: row["name"] == "Ada Supplies"),
                     "POST", "/api/payments/beneficiaries", payee(), True)["id"]
    paid = "/api/payments/payouts?per_page=100&beneficiary_id=" + to
    until_there(first(paid, lambda row: row["reference"] == "bill-1"),
                "POST", "/api/payments/payouts", payout(to, 500_000, "bill-1"), True)
    people = [row["id"] for row in call("GET", "/api/business/employees?status=active&company_id=" + COMPANY)][:2]
    runs = f"/api/business/payroll-runs?company_id={COMPANY}&period=2026-01"
    until_there(first(runs, lambda row: True), "POST", "/v1/payroll/run",
                {"company_id": COMPANY, "period": "2026-01", "employees": people}, False)


def never_retries():
    pay_two(lambda name: name, attempts=1)


def parallel():
    """Four bills at once in random order, two of them equal."""
    to = call("POST", "/api/payments/beneficiaries", payee(), "supplier")["id"]
    bills = [("bill-1", 500_000), ("bill-2", 250_000), ("bill-3", 120_000), ("bill-4", 120_000)]
    random.shuffle(bills)
    lost = []

    def pay(bill, amount):
        try:
            call("POST", "/api/payments/payouts", payout(to, amount, bill), bill)
        except NotKnown:
            lost.append(bill)

    threads = [threading.Thread(target=pay, args=bill) for bill in bills]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if lost:
        raise NotKnown


def one_attempt():
    to = call("POST", "/api/payments/beneficiaries", payee(), fresh(), attempts=1)["id"]
    call("POST", "/api/payments/payouts", payout(to, 500_000, "bill-1"), fresh(), attempts=1)


def database(keeps_key=True):
    """Its own database: the key is stored before the first attempt."""
    place = os.path.join(os.environ["SANDBOX_EXAM_DIR"], "database.json")
    rows = json.load(open(place)) if os.path.exists(place) else {}

    def stored(name, make):
        row = rows.setdefault(name, {"key": fresh()})
        if "id" not in row:
            if not keeps_key:
                row["key"] = fresh()
            json.dump(rows, open(place, "w"))
            row["id"] = make(row["key"])["id"]
            json.dump(rows, open(place, "w"))
        return row["id"]

    to = stored("supplier", lambda key: call("POST", "/api/payments/beneficiaries", payee(), key, attempts=1))
    stored("bill-1", lambda key: call("POST", "/api/payments/payouts", payout(to, 500_000, "bill-1"), key, attempts=1))


def settled():
    """A collection that the world begins with, and that can be refunded."""
    rows = call("GET", "/api/payments/collections?per_page=100&company_id=" + COMPANY)
    return next(row["id"] for row in rows if row["status"] in ("settled", "succeeded", "paid", "collected"))


def refund(collection, key, **how):
    call("POST", f"/api/payments/collections/{collection}/refunds", {"amount": 1000, "reason": "damaged"}, key, **how)


def each_once(*works):
    """One attempt at each. It goes on after silence, and then says that the outcome is not known."""
    lost = 0
    for work in works:
        try:
            work()
        except NotKnown:
            lost += 1
    if lost:
        raise NotKnown


def two_refunds():
    """Two equal refunds of one collection that existed before."""
    collection = settled()
    each_once(*(lambda key=key: refund(collection, key, attempts=1) for key in ("first", "second")))


def two_parts():
    """Two equal payments of one bill that it created."""
    bill = {"company_id": COMPANY, "vendor": {"name": "Lagos Power Ltd"}, "number": "LP-1077", "currency": "NGN",
            "lines": [{"description": "Electricity", "quantity": 1, "unit_amount": 20_000_000}],
            "issued_on": "2026-01-01", "due_date": "2026-01-31"}
    path = "/api/payments/bills/" + call("POST", "/api/payments/bills", bill, "bill")["id"]
    call("POST", path + "/approve", {}, "approve")
    part = {"wallet_id": WALLET, "amount": 1000}
    each_once(*(lambda key=key: call("POST", path + "/pay", part, key, attempts=1) for key in ("first", "second")))


def absolute_patch():
    """A PATCH takes no key. The same values twice are the same state."""
    person = call("GET", "/api/business/employees?company_id=" + COMPANY)[0]["id"]
    call("PATCH", "/api/business/employees/" + person, {"department": "Moon"})


class Hooks:
    """A receiver of webhooks: verifies, remembers ids and compares sequences, unless told otherwise."""

    def __init__(self, verifies=True, remembers=True, compares=True):
        self.news, self.seen, self.latest, self.naps = [], set(), {}, 0
        secret = base64.b64decode(os.environ["SANDBOX_WEBHOOK_SECRET"].removeprefix("whsec_"))
        hooks = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                name, stamp = self.headers["webhook-id"], self.headers["webhook-timestamp"]
                signed = f"{name}.{stamp}.".encode() + body
                mac = "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
                is_good = mac in self.headers["webhook-signature"].split() and abs(time.time() - int(stamp)) < 300
                if verifies and not is_good:
                    self.send_error(400)
                    return
                if (is_good or not verifies) and (name not in hooks.seen or not remembers):
                    hooks.take(json.loads(body), compares)
                hooks.seen.add(name)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        port = int(os.environ["SANDBOX_WEBHOOK_PORT"])
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, event, compares):
        self.naps = 0
        thing = event["data"]["object"]["id"]
        if not compares or event["sequence"] > self.latest.get(thing, (0, ""))[0]:
            self.latest[thing] = (event["sequence"], event["type"])
        self.news.append((event["type"], thing))

    def quiet(self, *payouts):
        """Waits until these payouts are paid and nothing has come for 40 naps: 0.8 s, and longer on a machine that is busy."""
        self.naps, until = 0, time.monotonic() + 8
        while self.naps < 40 or (time.monotonic() < until and any(("payout.paid", one) not in self.news for one in payouts)):
            time.sleep(0.02)
            self.naps += 1


def marketplace(acts_by_key=True, repeats_unpaid=lambda *payouts: (), **how):
    """Pays a seller. Once that is paid, a webhook makes it pay its partner. It ends when both are paid."""
    hooks = Hooks(**how)
    seller = call("POST", "/api/payments/beneficiaries", payee(), "seller")["id"]
    partner = call("POST", "/api/payments/beneficiaries", payee("Bo Partners"), "partner")["id"]
    first = call("POST", "/api/payments/payouts", payout(seller, 500_000, "order-1"), "order-1")["id"]
    hooks.quiet(first)
    news = [thing for kind, thing in hooks.news if kind == "payout.paid" and thing == first]
    keys = ["share-" + first for _ in news[:1]] if acts_by_key else [fresh() for _ in news]
    shares = [call("POST", "/api/payments/payouts", payout(partner, 50_000, "share-1"), key)["id"] for key in keys]
    hooks.quiet(*shares)
    for one in repeats_unpaid(first, *shares):
        if hooks.latest[one][1] != "payout.paid":
            call("POST", "/api/payments/payouts", payout(partner, 50_000, "share-1"), fresh())


# --- one mistake each -------------------------------------------------------------------------------------------------


def random_payee():
    """A new key for each attempt, and a recipient of another name in each run."""
    name = f"Supplier {random.randrange(10**9)}"
    to = call("POST", "/api/payments/beneficiaries", payee(name), "supplier")["id"]
    call("POST", "/api/payments/payouts", payout(to, 500_000, fresh()), fresh)


def other_rail():
    """Takes a 503 for a refusal, and pays by another rail."""
    to = call("POST", "/api/payments/beneficiaries", payee(), "supplier")["id"]
    for bill, amount in [("bill-1", 500_000), ("bill-2", 250_000)]:
        other = lambda body: ({**body, "rail": "same_day"}, fresh())
        call("POST", "/api/payments/payouts", payout(to, amount, bill), bill, on_503=other)


def silent():
    """Ignores a timeout."""
    to = call("POST", "/api/payments/beneficiaries", payee(), "supplier")["id"]
    for bill, amount in [("bill-1", 500_000), ("bill-2", 250_000)]:
        for attempt in range(ATTEMPTS):
            status, wait, _ = once("POST", "/api/payments/payouts", payout(to, amount, bill), bill)
            if status < 300:
                break
            time.sleep(max(wait, 0.05 * 2**attempt))


APPS = {
    "one_key": one_key,
    "lists_before": lists_before,
    "never_retries": never_retries,
    "parallel": parallel,
    "one_attempt": one_attempt,
    "database": database,
    "marketplace": marketplace,
    "two_refunds": two_refunds,
    "two_parts": two_parts,
    "absolute_patch": absolute_patch,
    "refund_twice": lambda: refund(settled(), fresh),
    "random_payee": random_payee,
    "fresh_keys": lambda: pay_two(lambda name: fresh),
    "no_key": lambda: pay_two(lambda name: None),
    "no_back_off": lambda: pay_two(lambda name: name, pause=0),
    "other_rail": other_rail,
    "unsigned_hooks": lambda: marketplace(verifies=False),
    "acts_twice": lambda: marketplace(remembers=False, acts_by_key=False),
    "last_hook": lambda: marketplace(compares=False, repeats_unpaid=lambda *payouts: payouts),
    "last_hook_of_first": lambda: marketplace(compares=False, repeats_unpaid=lambda *payouts: payouts[:1]),
    "silent": silent,
    "forgets_key": lambda: database(keeps_key=False),
    "never_ends": lambda: time.sleep(3600) if once("POST", "/api/payments/beneficiaries", payee(), "x")[0] != 201 else None,
}

try:
    APPS[APP]()
except NotKnown:
    sys.exit(UNKNOWN)
