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
    public function __construct(public readonly int $status, public readonly array $body, public readonly int $retryAfter = 0, string $whole = '')
    {
        // A proxy can send anything.
        $text = static fn (string $name): ?string => is_string($body[$name] ?? null) ? $body[$name] : null;
        $code = $text('code') ?? 'unknown';
        $this->detail = $text('detail') ?? $text('title') ?? ($whole === '' ? null : $whole);
        $this->requestId = $text('request_id');
        $errors = $body['errors'] ?? null;
        $this->errors = is_array($errors) ? array_values(array_filter($errors, 'is_array')) : [];
        $says = $body['retryable'] ?? null;
        $this->retryable = is_bool($says) ? $says : in_array($status, [0, 408, 429, 502, 503, 504], true);
        $plain = static fn (mixed $value): string => is_string($value) ? $value : (string) json_encode($value);
        $place = static fn (array $error): string => "\n  {$plain($error['pointer'] ?? '')}: {$plain($error['detail'] ?? '')}";
        $places = array_map($place, $this->errors);
        parent::__construct("$status $code: " . ($this->detail ?? 'no detail') . implode('', $places));
        $this->code = $code;
    }
}
