<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

/** A running program that ends with this process, even if the process is killed. */
final class Program
{
    /** @var resource */
    private $process;
    /** @var array<int, resource> */
    private array $pipes = [];
    public readonly string $url;

    /**
     * @param list<string> $arguments
     * @param int $ready the stream with the ready line: 1 or 2
     */
    public function __construct(?string $binary, array $arguments, int $ready = 1)
    {
        $binary ??= getenv('SANDBOX_BIN') ?: 'sandbox';
        $isOurs = static fn (string $name): bool => $name === 'PORT' || str_starts_with($name, 'SANDBOX_');
        $env = array_filter(getenv(), static fn (string $name): bool => !$isOurs($name), ARRAY_FILTER_USE_KEY);
        $streams = [['pipe', 'r'], ['pipe', 'w'], $ready === 2 ? ['pipe', 'w'] : STDERR];
        $process = proc_open([$binary, ...$arguments, '--port', '0', '--exit-with-stdin'], $streams, $this->pipes, null, $env);
        if ($process === false) {
            throw new \RuntimeException("$binary does not start; SANDBOX_BIN names another program");
        }
        $this->process = $process;
        $output = '';
        do {
            $line = fgets($this->pipes[$ready]);
            $output .= $line;
        } while ($line !== false && !str_starts_with($line, 'listening on ') && strlen($output) < 1000);
        if ($line === false || !str_starts_with($line, 'listening on ')) {
            proc_terminate($process);
            $found = $output === '' ? "it ended with {$this->stop()}" : trim($output);
            throw new \RuntimeException("$binary does not serve: $found; SANDBOX_BIN names another program");
        }
        $this->url = trim(substr($line, strlen('listening on ')));
    }

    /** The next line of its output, or null if none comes in time. */
    public function line(float $seconds): ?string
    {
        $read = [$this->pipes[1]];
        $none = null;
        if (stream_select($read, $none, $none, (int) $seconds, (int) (fmod($seconds, 1) * 1_000_000)) === 0) {
            return null;
        }
        return fgets($this->pipes[1]) ?: null;
    }

    /** Ends the program and returns its exit code. */
    public function stop(): int
    {
        fclose($this->pipes[0]);
        return proc_close($this->process);
    }
}
