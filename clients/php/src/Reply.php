<?php

declare(strict_types=1);

namespace FinanceSandbox;

/** A success. */
final class Reply
{
    /**
     * @param array<string, string> $headers names in lower case
     * @param mixed $body parsed JSON as arrays, or the bytes of any other content
     */
    public function __construct(public readonly int $status, public readonly array $headers, public readonly mixed $body)
    {
    }
}
