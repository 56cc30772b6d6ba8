<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

/** A running sandbox. */
final class Sandbox
{
    private static ?self $shared = null;
    private int $forks = 0;

    private function __construct(private readonly Program $program, public readonly ?string $binary)
    {
    }

    /** The server that all tests of this process share. */
    public static function shared(): self
    {
        return self::$shared ??= self::start();
    }

    /** @param list<string> $args further flags of the program */
    public static function start(?string $binary = null, int $seed = 42, string $clock = 'manual', array $args = []): self
    {
        return new self(new Program($binary, ['--quiet', '--seed', (string) $seed, '--clock', $clock, ...$args]), $binary);
    }

    public function url(): string
    {
        return $this->program->url;
    }

    /** A world of its own, in its first state. The name of the test selects it. */
    public function world(string $name): World
    {
        // A key with `_live_` would be refused as a live one.
        $usable = preg_replace(['/[^!-~]+/', '/(^|[_-])live/i'], ['-', '$0.'], $name);
        // A `-` replaces one space, and `~` begins what is added. A name that has them could get the key of another name.
        $isWhole = strlen($usable) <= 240 && !preg_match('/[^ -,.-}]|  /', $name);
        $world = new World($this, 'test_' . ($isWhole ? $usable : substr($usable, -231) . '~' . substr(hash('sha256', $name), 0, 8)));
        $world->control('DELETE', '/world'); // a reset keeps the scenario, seed and endpoints of an earlier run of this test
        return $world;
    }

    public function forkKey(string $key): string
    {
        return substr($key, -240) . '~' . ++$this->forks;
    }

    /** How the program has ended, such as `exit code 0`. Null while it runs, and in a fork of the process that started it. */
    public function ending(): ?string
    {
        return $this->program->ending();
    }

    /** Ends the server and returns its exit code. */
    public function stop(): int
    {
        return $this->program->stop();
    }
}
