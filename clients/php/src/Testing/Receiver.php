<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

/**
 * A local receiver, which checks every signature. PHP has no threads, so it is a process of its own: `sandbox listen`.
 */
final class Receiver
{
    public readonly string $secret;
    /** @var list<array<string, mixed>> with a right signature */
    public array $events = [];
    /** @var list<array<string, mixed>> with a wrong one */
    public array $refused = [];
    private ?Program $program;

    public function __construct(?string $binary)
    {
        $this->secret = 'whsec_' . base64_encode(random_bytes(24));
        $this->program = new Program($binary, ['listen', '--json', '--secret', $this->secret], ready: 2);
    }

    public function url(): string
    {
        return $this->program->url;
    }

    /**
     * The first event of this type, and of this condition, that arrived or arrives in time.
     *
     * @param (callable(array<string, mixed>): bool)|null $where
     * @return array<string, mixed>
     */
    public function waitFor(string $type, float $timeout = 10, ?callable $where = null): array
    {
        $limit = microtime(true) + $timeout;
        for ($next = 0; ; ) {
            for (; $next < count($this->events); $next++) {
                $event = $this->events[$next];
                if ($event['type'] === $type && ($where === null || $where($event))) {
                    return $event;
                }
            }
            $line = $this->program->line(max(0, $limit - microtime(true)));
            if ($line === null) {
                $types = implode(', ', array_unique(array_column($this->events, 'type'))) ?: 'nothing';
                throw new Unmet("$type did not arrive in $timeout s; received: $types; refused: " . count($this->refused));
            }
            $received = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
            if ($received['signature'] === 'valid') {
                $this->events[] = $received['event'];
            } else {
                $this->refused[] = $received;
            }
        }
    }

    public function close(): void
    {
        $this->program?->stop();
        $this->program = null;
    }
}
