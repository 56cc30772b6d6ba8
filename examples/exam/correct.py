"""Pays two suppliers. Every purchase has one idempotency key, which each retry sends again.

    sandbox exam -- python3 examples/exam/correct.py      exit code 0
"""

import http.client
import json
import os
import random
import sys
import time
import urllib.parse

ATTEMPTS = 7
UNKNOWN = 75  # "the outcome is not known: start me again"
URL = urllib.parse.urlsplit(os.environ["SANDBOX_URL"])


def send(method, path, body=None, key=None):
    """One attempt: status, Retry-After and body. An exception or a 5xx says nothing about what happened."""
    connection = http.client.HTTPConnection(URL.netloc, timeout=2)
    headers = {"Authorization": "Bearer " + os.environ["SANDBOX_KEY"], "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    try:
        connection.request(method, URL.path + path, json.dumps(body) if body else None, headers)
        reply = connection.getresponse()
        return reply.status, reply.headers.get("Retry-After"), json.loads(reply.read())
    finally:
        connection.close()


def call(method, path, body=None, key=None):
    """Retries with the same key until the outcome is known. The pause doubles and has chance in it."""
    pause = 0.1
    for _ in range(ATTEMPTS):
        wait = pause * (1 + random.random() / 4)
        try:
            status, retry_after, answer = send(method, path, body, key)
        except (OSError, http.client.HTTPException, ValueError):
            status, retry_after = 599, None
        if status < 400:
            return answer["data"]
        if status != 429 and status < 500:
            sys.exit(f"{method} {path} was refused: {answer['detail']}")
        if retry_after:
            wait = max(wait, float(retry_after))
        time.sleep(wait)
        pause *= 2
    sys.exit(UNKNOWN)


company = call("GET", "/api/business/companies")[0]["id"]
wallet = call("GET", "/api/payments/wallets?company_id=" + company)[0]["id"]
supplier = call("POST", "/api/payments/beneficiaries", {
    "company_id": company, "name": "Ada Supplies", "type": "business",
    "account": {"bank_code": "011", "account_number": "0000014579", "country": "NG", "currency": "NGN"},
}, key="supplier-ada")["id"]
for bill, amount in [("bill-1001", 500_000), ("bill-1002", 250_000)]:
    call("POST", "/api/payments/payouts", {
        "company_id": company, "wallet_id": wallet, "beneficiary_id": supplier, "amount": amount,
        "currency": "NGN", "rail": "instant", "reference": bill,
    }, key=bill)
