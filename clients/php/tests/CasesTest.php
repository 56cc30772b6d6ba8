<?php

declare(strict_types=1);

use FinanceSandbox\Client;
use FinanceSandbox\Problem;
use FinanceSandbox\Webhook;
use FinanceSandbox\WebhookError;
use PHPUnit\Framework\TestCase;

/** The cases of `clients/cases.json`, which all six clients share. */
final class CasesTest extends TestCase
{
    /** Answers each request with the bytes of `reply`, and keeps the head of the request in `heads`. */
    private const STUB = <<<'PHP'
        <?php
        [, $folder] = $argv;
        $listener = stream_socket_server('tcp://127.0.0.1:0');
        echo stream_socket_get_name($listener, false), "\n";
        while (true) {
            $connection = stream_socket_accept($listener, -1);
            $head = '';
            while (!str_ends_with($head, "\r\n\r\n")) {
                $head .= fgets($connection);
            }
            if (preg_match('/^content-length: (\d+)/im', $head, $length) && $length[1] > 0) {
                stream_get_contents($connection, (int) $length[1]);
            }
            file_put_contents("$folder/heads", $head, FILE_APPEND);
            [$start, $body] = explode("\r\n\r\n", file_get_contents("$folder/reply"), 2);
            fwrite($connection, "$start\r\n\r\n");
            $slow = file_exists("$folder/slow");
            foreach ($slow ? str_split($body) : [$body] as $part) {
                @fwrite($connection, $part); // the client does not wait for the rest
                usleep($slow ? 100_000 : 0);
            }
            fclose($connection);
        }
        PHP;

    private static string $folder;
    private static string $url;
    /** @var resource */
    private static $stub;
    /** @var array<int, resource> */
    private static array $pipes = [];

    public static function setUpBeforeClass(): void
    {
        self::$folder = sys_get_temp_dir() . '/cases' . getmypid();
        mkdir(self::$folder);
        file_put_contents(self::$folder . '/stub.php', self::STUB);
        self::$stub = proc_open([PHP_BINARY, self::$folder . '/stub.php', self::$folder], [1 => ['pipe', 'w']], self::$pipes);
        self::$url = 'http://' . trim(fgets(self::$pipes[1]));
    }

    public static function tearDownAfterClass(): void
    {
        proc_terminate(self::$stub, 9);
        array_map('unlink', glob(self::$folder . '/*'));
        rmdir(self::$folder);
    }

    private static function answer(string $reply, bool $slow = false): void
    {
        array_map('unlink', array_filter([self::$folder . '/heads', self::$folder . '/slow'], 'file_exists'));
        file_put_contents(self::$folder . '/reply', $reply);
        if ($slow) {
            touch(self::$folder . '/slow');
        }
    }

    /** @return array<string, array{array<string, mixed>}> */
    private static function rows(string $kind): array
    {
        $rows = json_decode(file_get_contents(__DIR__ . '/../../cases.json'), true)[$kind];
        return array_combine(array_column($rows, 'name'), array_map(static fn (array $row): array => [$row], $rows));
    }

    public static function replies(): array
    {
        return self::rows('replies');
    }

    public static function requests(): array
    {
        return self::rows('requests');
    }

    public static function webhooks(): array
    {
        return self::rows('webhooks');
    }

    /** @dataProvider replies */
    public function testReplies(array $row): void
    {
        self::answer($row['reply'], $row['slow'] ?? false);
        try {
            $result = (new Client(self::$url, retries: 0, timeout: 1))->request($row['method'], '/');
            $this->assertSame('', $result->body);
            $this->assertArrayNotHasKey('problem', $row);
        } catch (Problem $result) {
            $expected = $row['problem'] ?? [];
            $this->assertSame([$expected['code'], $expected['retryable']], [$result->getCode(), $result->retryable]);
            $this->assertStringContainsString($expected['detail'], $result->detail);
        }
        $this->assertSame($row['status'], $result->status);
        $this->assertSame(1, substr_count(file_get_contents(self::$folder . '/heads'), "\r\n\r\n"));
    }

    /** @dataProvider requests */
    public function testRequests(array $row): void
    {
        self::answer("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        $client = new Client(self::$url, retries: 0, headers: $row['client_headers'] ?? []);
        $client->request($row['method'], $row['path'], $row['method'] === 'POST' ? ['a' => 1] : null, $row['query'] ?? [], $row['headers'] ?? []);
        $lines = explode("\r\n", rtrim(file_get_contents(self::$folder . '/heads')));
        $this->assertSame($row['target'], explode(' ', array_shift($lines))[1]);
        foreach ($row['sent'] ?? [] as $name => $value) {
            $this->assertSame(["$name: $value"], array_values(preg_grep("~^$name:~i", $lines)));
        }
        $this->assertStringNotContainsString($row['unsent'] ?? '-none-', implode("\n", $lines));
    }

    /** @dataProvider webhooks */
    public function testWebhooks(array $row): void
    {
        $now = json_decode(file_get_contents(__DIR__ . '/../../cases.json'), true)['now'];
        $headers = ['webhook-id' => 'evt_1', 'webhook-timestamp' => $row['timestamp'], 'webhook-signature' => $row['signature']];
        if (!$row['right']) {
            $this->expectException(WebhookError::class);
        }
        $this->assertSame(['id' => 'evt_1'], Webhook::verify($row['secret'], $headers, base64_decode($row['body']), now: $now));
    }

    public function testABodyThatJsonCannotExpressIsNotSent(): void
    {
        $this->expectException(JsonException::class);
        (new Client('http://127.0.0.1:9'))->post('/', ['amount' => NAN]);
    }
}
