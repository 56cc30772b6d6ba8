<?php

declare(strict_types=1);

namespace FinanceSandbox;

/** A delivery whose signature or time is wrong. */
final class WebhookError extends \RuntimeException
{
}
