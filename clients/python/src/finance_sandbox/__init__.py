"""Client and test kit of sandbox, a simulator of a financial-infrastructure API."""

from .client import Client, Problem, Reply, WebhookError, verify_webhook
from .kit import Receiver, Sandbox, World

__all__ = ["Client", "Problem", "Receiver", "Reply", "Sandbox", "WebhookError", "World", "verify_webhook"]
