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
    private readonly int $owner;
    private bool $isOpen = true;
    /** @var ?array{exitcode: int, signaled: bool, termsig: int} */
    private ?array $ended = null;
    public readonly string $url;

    /**
     * @param list<string> $arguments
     * @param int $ready the stream with the ready line: 1 or 2
     * @param ?string $output a file for the standard output; without a reader, a pipe would stop the program when it is full
     */
    public function __construct(?string $binary, array $arguments, int $ready = 1, ?string $output = null)
    {
        $this->owner = getmypid();
        $binary ??= getenv('SANDBOX_BIN') ?: 'sandbox';
        $isOurs = static fn (string $name): bool => $name === 'PORT' || str_starts_with($name, 'SANDBOX_');
        $env = array_filter(getenv(), static fn (string $name): bool => !$isOurs($name), ARRAY_FILTER_USE_KEY);
        $streams = [['pipe', 'r'], $output === null ? ['pipe', 'w'] : ['file', $output, 'w'], $ready === 2 ? ['pipe', 'w'] : STDERR];
        $process = @proc_open([$binary, ...$arguments, '--port', '0', '--exit-with-stdin'], $streams, $this->pipes, null, $env);
        if ($process === false) {
            $reason = error_get_last()['message'] ?? 'unknown reason';
            throw new \RuntimeException("$binary does not start: $reason; SANDBOX_BIN names another program");
        }
        $this->process = $process;
        $output = '';
        do {
            $line = fgets($this->pipes[$ready]);
            $output .= $line;
        } while ($line !== false && !str_starts_with($line, 'listening on ') && strlen($output) < 1000);
        if ($line === false || !str_starts_with($line, 'listening on ')) {
            if ($line !== false) {
                proc_terminate($process);
            }
            fclose($this->pipes[0]);
            $code = proc_close($process);
            $found = $output === '' ? "it ended with $code" : trim($output);
            $reason = $output === '' && $code === 127 ? self::reason($binary) : null;
            $what = $reason === null ? "does not serve: $found" : "does not start: $reason";
            throw new \RuntimeException("$binary $what; SANDBOX_BIN names another program");
        }
        $this->url = trim(substr($line, strlen('listening on ')));
    }

    /** Why a program cannot start. PHP looks for it only in a fork, which then ends with 127 and no message. */
    private static function reason(string $binary): ?string
    {
        $folders = str_contains($binary, '/') ? [''] : array_map(static fn (string $one): string => "$one/", explode(PATH_SEPARATOR, getenv('PATH') ?: ''));
        $files = array_filter(array_map(static fn (string $folder): string => $folder . $binary, $folders), 'file_exists');
        if ($files === []) {
            return 'No such file';
        }
        $programs = array_filter($files, static fn (string $file): bool => is_file($file) && is_executable($file));
        return $programs === [] ? 'Permission denied' : null;
    }

    /** Ends the program and returns its exit code. Does nothing in a fork of the process that started it. */
    public function stop(): int
    {
        if (getmypid() !== $this->owner) {
            return 0;
        }
        if ($this->isOpen) {
            $this->isOpen = false;
            fclose($this->pipes[0]);
            if ($this->ended === null) {
                proc_terminate($this->process); // a fork of this process can hold the other end of the input open
            }
            $code = proc_close($this->process);
            $this->ended ??= ['exitcode' => $code, 'signaled' => false, 'termsig' => 0];
        }
        return $this->ended['exitcode'];
    }

    /** How the program has ended, such as `exit code 0`. Null while it runs, and in a fork of the process that started it. */
    public function ending(): ?string
    {
        if (getmypid() !== $this->owner) {
            return null;
        }
        for ($look = 0; $this->ended === null && $look < 100; $look++) { // its connections end a moment before
            $status = proc_get_status($this->process);
            if ($status['running']) {
                usleep(10_000);
            } else {
                $this->ended = $status; // PHP 8.2 and earlier know the exit code only once
            }
        }
        if ($this->ended === null) {
            return null;
        }
        return $this->ended['signaled'] ? "signal {$this->ended['termsig']}" : "exit code {$this->ended['exitcode']}";
    }
}
