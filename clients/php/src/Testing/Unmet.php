<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

/** A verification that failed, or a webhook that did not arrive. */
final class Unmet extends \RuntimeException
{
}
