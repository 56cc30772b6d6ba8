<?php

declare(strict_types=1);

namespace FinanceSandbox;

/** A delivery whose signature, time or body is wrong. */
final class WebhookError extends \RuntimeException
{
}
