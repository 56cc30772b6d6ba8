<?php

declare(strict_types=1);

namespace FinanceSandbox;

/** A refusal of the API (RFC 9457), or a reply that cannot be read (`status` 0). */
final class Problem extends \RuntimeException
{
    /** @var string such as `validation_failed`; also what `getCode` returns */
    public $code;
    public readonly ?string $detail;
    public readonly ?string $requestId;
    public readonly bool $retryable;
    /** @var list<array{pointer: string, code: string, detail: string}> */
    public readonly array $errors;

    /** @param array<string, mixed> $body */
    public function __construct(public readonly int $status, public readonly array $body, public readonly int $retryAfter = 0)
    {
        $code = $body['code'] ?? 'unknown';
        $this->detail = $body['detail'] ?? $body['title'] ?? null;
        $this->requestId = $body['request_id'] ?? null;
        $this->errors = $body['errors'] ?? [];
        $this->retryable = $body['retryable'] ?? in_array($status, [0, 408, 429, 502, 503, 504], true);
        $places = array_map(static fn (array $error): string => "\n  {$error['pointer']}: {$error['detail']}", $this->errors);
        parent::__construct("$status $code: " . ($this->detail ?? 'no detail') . implode('', $places));
        $this->code = $code;
    }
}
