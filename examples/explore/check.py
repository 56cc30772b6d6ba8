"""Compares the book of pay.py with the sandbox: a bill is paid if its payout is."""

import json
import os
import sys
import urllib.request

LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # without the proxy of the environment
with open(os.path.join(os.environ["SANDBOX_EXAM_DIR"], "book.json")) as file:
    book = json.load(file)
for bill, entry in sorted(book.items()):
    if entry["id"] is None:
        continue
    request = urllib.request.Request(
        os.environ["SANDBOX_URL"] + "/api/payments/payouts/" + entry["id"],
        headers={"Authorization": "Bearer " + os.environ["SANDBOX_KEY"]},
    )
    with LOCAL.open(request) as reply:
        status = json.load(reply)["data"]["status"]
    if (status == "paid") != (entry["state"] == "paid"):
        sys.exit(f"{bill}: the book says {entry['state']}, the payout is {status}")
