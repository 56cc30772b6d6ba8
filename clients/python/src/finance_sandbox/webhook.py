"""Checks deliveries of webhooks by Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from typing import Any, Iterable, Mapping

from .client import parse


class WebhookError(Exception):
    """A delivery whose signature, time or body is wrong."""


def verify_webhook(
    secrets: str | Iterable[str], headers: Mapping[str, str], body: bytes, tolerance: float = 300, now: float | None = None
) -> Any:
    """Checks a delivery by Standard Webhooks and returns its event.

    `body` is the bytes as received. `secrets` is one secret, or several while a secret is replaced.
    """
    found = {name.lower(): value for name, value in headers.items()}
    timestamp = found.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookError("webhook-timestamp is missing or no number")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookError("webhook-timestamp is too old or in the future")
    if not found.get("webhook-id"):
        raise WebhookError("webhook-id is missing")
    signed = f"{found['webhook-id']}.{timestamp}.".encode() + body
    given = [one[3:] for one in found.get("webhook-signature", "").split() if one.startswith("v1,")]
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        key = _key(secret)
        wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if any(hmac.compare_digest(wanted.encode(), one.encode()) for one in given):
            return _event(body)
    raise WebhookError("webhook-signature is wrong")


def _event(body: bytes) -> Any:
    event = parse(body)
    if not isinstance(event, dict):
        raise WebhookError("the body is no JSON object")
    return event


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except ValueError:
        key = b""
    if not key:  # with an empty key, anyone could sign
        raise WebhookError("the secret is empty or not base64")
    return key
