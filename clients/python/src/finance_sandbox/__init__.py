"""Client and test kit of sandbox, a simulator of a financial-infrastructure API."""

from .client import Client, Problem, Reply
from .kit import Receiver, Sandbox, World
from .webhook import WebhookError, verify_webhook

__all__ = ["Client", "Problem", "Receiver", "Reply", "Sandbox", "WebhookError", "World", "verify_webhook"]
