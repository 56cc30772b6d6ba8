<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

use PHPUnit\Framework\AssertionFailedError;

// PHPUnit reports its own exception as a failure, and every other one as an error.
if (class_exists(AssertionFailedError::class)) {
    /** A verification that failed, or a webhook that did not arrive. */
    final class Unmet extends AssertionFailedError
    {
    }
} else {
    /** A verification that failed, or a webhook that did not arrive. */
    final class Unmet extends \RuntimeException
    {
    }
}
