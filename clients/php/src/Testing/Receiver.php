<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

/**
 * @property-read list<array<string, mixed>> $events with a right signature, up to now
 * @property-read list<array<string, mixed>> $refused with a wrong one
 *
 * A local receiver, which checks every signature. PHP has no threads, so it is a process of its own: `sandbox listen`.
 */
final class Receiver
{
    public readonly string $secret;
    private ?Program $program;
    private readonly string $file;
    /** @var resource */
    private $lines;
    private string $half = '';
    /** @var array{events: list<array<string, mixed>>, refused: list<array<string, mixed>>} */
    private array $received = ['events' => [], 'refused' => []];

    public function __construct(?string $binary)
    {
        $this->secret = 'whsec_' . base64_encode(random_bytes(24));
        $this->file = tempnam(sys_get_temp_dir(), 'receiver');
        $this->program = new Program($binary, ['listen', '--json', '--secret', $this->secret], ready: 2, output: $this->file);
        $this->lines = fopen($this->file, 'r');
        @unlink($this->file); // both processes have it open; Windows refuses this until they end
    }

    /** @return list<array<string, mixed>> */
    public function __get(string $name): array
    {
        $this->read();
        return $this->received[$name];
    }

    private function read(): void
    {
        while (($part = fgets($this->lines)) !== false) {
            $this->half .= $part;
            if (str_ends_with($part, "\n")) {
                $received = json_decode($this->half, true, 512, JSON_THROW_ON_ERROR);
                $this->half = '';
                if ($received['signature'] === 'valid') {
                    $this->received['events'][] = $received['event'];
                } else {
                    $this->received['refused'][] = $received;
                }
            }
        }
        fseek($this->lines, 0, SEEK_CUR); // otherwise the end of the file stays
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
        for ($next = 0; ; usleep(5_000)) {
            $isLate = microtime(true) >= $limit;
            $events = $this->events;
            for (; $next < count($events); $next++) {
                if ($events[$next]['type'] === $type && ($where === null || $where($events[$next]))) {
                    return $events[$next];
                }
            }
            if ($isLate) {
                $types = implode(', ', array_unique(array_column($events, 'type'))) ?: 'nothing';
                throw new Unmet("$type did not arrive in $timeout s; received: $types; refused: " . count($this->refused));
            }
        }
    }

    public function close(): void
    {
        $this->program?->stop();
        $this->program = null;
        @unlink($this->file);
    }
}
