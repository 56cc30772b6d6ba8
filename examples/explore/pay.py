"""Pays two suppliers, waits three virtual days, and writes down what was paid. `--fixed` also handles a return that comes later.

    sandbox explore --check 'python3 examples/explore/check.py' -- python3 examples/explore/pay.py            exit code 1
    sandbox explore --check 'python3 examples/explore/check.py' -- python3 examples/explore/pay.py --fixed    exit code 0
"""

import json
import os
import sys
import urllib.error
import urllib.request

LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # without the proxy of the environment
BOOK = os.path.join(os.environ["SANDBOX_EXAM_DIR"], "book.json")


def call(method, path, body=None, key=None):
    headers = {"Authorization": "Bearer " + os.environ["SANDBOX_KEY"], "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(os.environ["SANDBOX_URL"] + path, data, headers, method=method)
    try:
        with LOCAL.open(request) as reply:
            return json.load(reply)["data"]
    except urllib.error.HTTPError as refusal:
        if refusal.code == 422:
            return None  # the supplier's bank account was refused: this bill stays open
        raise


def state(payout, wait):
    """What the book says about a payout: paid or open."""
    for _ in range(wait):
        if payout["status"] in ("paid", "failed", "returned", "cancelled"):
            break
        call("POST", "/_sandbox/clock/advance", {"by": "1d"})
        payout = call("GET", "/api/payments/payouts/" + payout["id"])
    return "paid" if payout["status"] == "paid" else "open"


company = call("GET", "/api/business/companies")[0]["id"]
wallet = call("GET", "/api/payments/wallets?company_id=" + company)[0]["id"]
supplier = call("POST", "/api/payments/beneficiaries", {
    "company_id": company, "name": "Ada Supplies", "type": "business",
    "account": {"bank_code": "011", "account_number": "0000014579", "country": "NG", "currency": "NGN"},
}, key="supplier-ada")
call("POST", "/_sandbox/clock/advance", {"by": "1d"})  # the account is checked
book = {}
for bill, amount in [("bill-1001", 500_000), ("bill-1002", 250_000)]:
    payout = call("POST", "/api/payments/payouts", {
        "company_id": company, "wallet_id": wallet, "beneficiary_id": supplier["id"], "amount": amount,
        "currency": "NGN", "rail": "instant", "reference": bill,
    }, key=bill)
    book[bill] = {"id": payout and payout["id"], "state": state(payout, 10) if payout else "open"}
if "--fixed" in sys.argv:
    # A bank may return money days after the payout was paid.
    call("POST", "/_sandbox/clock/advance", {"by": "30d"})
    for entry in book.values():
        if entry["id"]:
            entry["state"] = state(call("GET", "/api/payments/payouts/" + entry["id"]), 0)
with open(BOOK, "w") as file:
    json.dump(book, file)
