<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

use FinanceSandbox\Client;
use FinanceSandbox\Problem;

/** The world of one test. `client` is a client of it, for the code under test. */
final class World
{
    public readonly Client $client;
    private readonly Client $tools;
    /** @var list<Receiver> */
    private array $receivers = [];
    /** @var list<string> */
    private array $misses = [];
    /** How many calls of `verify` passed. */
    public int $verified = 0;

    public function __construct(private readonly Sandbox $sandbox, public readonly string $key)
    {
        $this->client = new Client($sandbox->url(), $key);
        // Never repeated: the control plane has no idempotency keys.
        $this->tools = new Client($sandbox->url(), $key, retries: 0, timeout: 120);
    }

    /**
     * Calls a route below `/_sandbox`. Returns the body: `data`, and `meta` of lists.
     *
     * @param array<string, mixed> $query
     */
    public function control(string $method, string $path, mixed $body = null, array $query = []): mixed
    {
        try {
            return $this->tools->request($method, "/_sandbox$path", $body, $query)->body;
        } catch (Problem $lost) {
            $ending = $lost->status === 0 ? $this->sandbox->ending() : null;
            if ($ending === null) {
                throw $lost;
            }
            throw new Problem(0, ['detail' => "$lost->detail; the sandbox has ended with $ending"] + $lost->body);
        }
    }

    private function data(string $path, mixed $body = null): array
    {
        return $this->control('POST', $path, $body)['data'];
    }

    /** Advances the clock: `advance('10d')`, `advance(['until' => 'idle'])`. */
    public function advance(string|array $by): array
    {
        return $this->data('/clock/advance', is_string($by) ? ['by' => $by] : $by);
    }

    /** Starts the world again with a scenario. */
    public function scenario(string $name): array
    {
        return $this->data("/scenarios/$name/load");
    }

    public function fault(array $row): array
    {
        return $this->data('/faults', $row);
    }

    public function rule(array $row): array
    {
        return $this->data('/rules', $row);
    }

    public function events(array $query = []): array
    {
        return $this->control('GET', '/events', null, $query + ['per_page' => 100])['data'];
    }

    public function deliveries(array $query = []): array
    {
        return $this->control('GET', '/deliveries', null, $query + ['per_page' => 100])['data'];
    }

    /** Verifies calls (`operation`), events (`type`) or deliveries (`event_type`); `Unmet` unless the verdict is `pass`. */
    public function verify(array $row): array
    {
        $kind = isset($row['operation']) ? 'requests' : (isset($row['event_type']) ? 'deliveries' : 'events');
        $verdict = $this->data("/$kind/verify", $row);
        if ($verdict['verdict'] === 'pass') {
            $this->verified++;
            return $verdict;
        }
        $text = static fn (mixed $value): string => json_encode($value, JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR);
        $miss = "$kind {$text($row)}: {$verdict['verdict']}, matched {$verdict['matched']}, nearest {$text($verdict['nearest'])}";
        $this->misses[] = $miss;
        throw new Unmet($miss);
    }

    public function snapshot(): string
    {
        return $this->data('/snapshots', new \stdClass())['id'];
    }

    public function restore(string $snapshot): array
    {
        return $this->data("/snapshots/$snapshot/restore");
    }

    /** Another world with a copy of this one. */
    public function fork(): self
    {
        $copy = new self($this->sandbox, $this->sandbox->forkKey($this->key));
        $this->control('POST', "/snapshots/{$this->snapshot()}/fork", ['key' => $copy->key]);
        return $copy;
    }

    /** A local receiver of the webhooks of these types, by default of all. */
    public function receiver(string ...$events): Receiver
    {
        $this->receivers[] = $receiver = new Receiver($this->sandbox->binary);
        $wanted = $events === [] ? [] : ['events' => $events];
        $this->control('POST', '/webhook-endpoints', ['url' => $receiver->url(), 'secret' => $receiver->secret] + $wanted);
        return $receiver;
    }

    /** What happened in this world: the last events, decisions and refused calls, and the near misses of `verify`. */
    public function report(): string
    {
        $last = function (string $path): array {
            $total = $this->control('GET', $path, null, ['per_page' => 1])['meta']['total'];
            return $this->control('GET', $path, null, ['per_page' => 30, 'page' => max(1, (int) ceil($total / 30))])['data'];
        };
        $section = static fn (string $title, array $rows): string => "\n$title:" . ($rows === [] ? ' none' : "\n  " . implode("\n  ", $rows));
        $event = static fn (array $one): string => "{$one['timestamp']} {$one['type']} " . ($one['data']['object']['id'] ?? '');
        $decision = static fn (array $one): string => "{$one['at']} {$one['decision']}={$one['chosen']} by " . ($one['source'] ?? $one['why']) . " {$one['subject_id']}";
        $call = static fn (array $one): string => "{$one['method']} {$one['path']} {$one['status']} {$one['error']}";
        $refused = array_filter($last('/requests'), static fn (array $one): bool => $one['status'] >= 400);
        $events = array_reverse($this->events(['per_page' => 30, 'sort' => '-sequence']));
        return "world $this->key of {$this->sandbox->url()}"
            . $section('last events', array_map($event, $events))
            . $section('last decisions', array_map($decision, $last('/decisions')))
            . $section('refused calls', array_map($call, $refused))
            . $section('near misses', $this->misses);
    }

    public function close(): void
    {
        foreach ($this->receivers as $receiver) {
            $receiver->close();
        }
        $this->receivers = [];
    }
}
