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
    /** Answers the requests with the bytes of `replies`, the last of them again and again, and keeps each request. */
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
            $body = '';
            if (preg_match('/^content-length: (\d+)/im', $head, $length) && $length[1] > 0) {
                $body = stream_get_contents($connection, (int) $length[1]);
            }
            $number = count(glob("$folder/request*"));
            file_put_contents(sprintf("$folder/request%03d", $number), $head . $body);
            $replies = unserialize(file_get_contents("$folder/replies"));
            $reply = $replies[min($number, count($replies) - 1)];
            $fast = file_exists("$folder/slow") ? (int) file_get_contents("$folder/slow") : strlen($reply);
            @fwrite($connection, substr($reply, 0, $fast));
            for ($at = $fast; $at < strlen($reply) && @fwrite($connection, $reply[$at]) === 1; $at++) {
                usleep(100_000); // a client that does not wait for the rest ends this
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

    /** @param list<string> $replies */
    private static function answer(array $replies, ?int $slowFrom = null): void
    {
        array_map('unlink', [...glob(self::$folder . '/request*'), ...glob(self::$folder . '/slow')]);
        file_put_contents(self::$folder . '/replies', serialize($replies));
        if ($slowFrom !== null) {
            file_put_contents(self::$folder . '/slow', (string) $slowFrom);
        }
    }

    /** @return list<array{list<string>, string}> the lines of the head and the body of each request */
    private static function requested(): array
    {
        return array_map(static function (string $file): array {
            [$head, $body] = explode("\r\n\r\n", file_get_contents($file), 2);
            return [explode("\r\n", $head), $body];
        }, glob(self::$folder . '/request*'));
    }

    /** @return list<string> the values of a header */
    private static function values(array $lines, string $name): array
    {
        return array_values(preg_replace("~^$name: ?~i", '', preg_grep("~^$name:~i", $lines)));
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

    public static function pages(): array
    {
        return self::rows('pages');
    }

    public static function webhooks(): array
    {
        return self::rows('webhooks');
    }

    private function checkProblem(Problem $problem, int $status, array $expected): void
    {
        $this->assertSame([$status, $expected['code'], $expected['retryable']], [$problem->status, $problem->getCode(), $problem->retryable]);
        $this->assertStringContainsString($expected['detail'], $problem->detail);
    }

    /** @dataProvider replies */
    public function testReplies(array $row): void
    {
        $replies = array_map(static function (string $reply) use ($row): string {
            [$head, $body] = explode("\r\n\r\n", $reply, 2) + [1 => null];
            return $body === null ? $head : "$head\r\n\r\n" . str_repeat($body, $row['times'] ?? 1) . base64_decode($row['content'] ?? '');
        }, $row['replies'] ?? [$row['reply']]);
        self::answer($replies, isset($row['slow_head']) ? 40 : (isset($row['slow']) ? strpos($replies[0], "\r\n\r\n") + 4 : null));
        $started = microtime(true);
        try {
            $client = new Client(self::$url, retries: isset($row['replies']) ? 3 : 0, timeout: 1);
            $reply = $client->request($row['method'], '/');
            $this->assertArrayNotHasKey('problem', $row);
            $this->assertSame([$row['status'], $row['json'] ?? $row['text'] ?? ''], [$reply->status, $reply->body]);
        } catch (Problem $problem) {
            $this->assertArrayHasKey('problem', $row, $problem->getMessage());
            $this->checkProblem($problem, $row['status'], $row['problem']);
        }
        $seconds = microtime(true) - $started;
        $this->assertTrue($seconds >= ($row['waits'] ?? 0) && $seconds < 3, (string) $seconds);
        $this->assertCount($row['requests'] ?? 1, self::requested());
        $keys = array_merge(...array_map(static fn (array $one): array => self::values($one[0], 'idempotency-key'), self::requested()));
        $this->assertCount($row['method'] === 'POST' ? count(self::requested()) : 0, $keys);
        $this->assertLessThanOrEqual(1, count(array_unique($keys)));
    }

    /** @dataProvider requests */
    public function testRequests(array $row): void
    {
        self::answer(["HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"]);
        $client = new Client(self::$url, headers: $row['client_headers'] ?? []);
        $body = $row['method'] === 'POST' ? $row['body'] ?? [] : null;
        try {
            $client->request($row['method'], $row['path'], $body, $row['query'] ?? [], $row['headers'] ?? []);
            $this->assertArrayNotHasKey('refused', $row);
        } catch (InvalidArgumentException) {
            $this->assertTrue($row['refused'] ?? false);
            $this->assertSame([], self::requested());
            return;
        }
        [[$lines, $sent]] = self::requested();
        $this->assertSame($row['target'], explode(' ', array_shift($lines))[1]);
        $this->assertSame($body === [] ? '{}' : $body, $body === [] ? $sent : json_decode($sent, true));
        foreach ($row['sent'] ?? [] as $name => $value) {
            $this->assertSame([$value], self::values($lines, $name));
        }
        $this->assertStringNotContainsString($row['unsent'] ?? '-none-', implode("\n", $lines));
        if ($row['new_key'] ?? false) {
            $this->assertSame([true], array_map('boolval', self::values($lines, 'idempotency-key')));
        }
    }

    /** @dataProvider pages */
    public function testPages(array $row): void
    {
        self::answer($row['replies']);
        try {
            $items = iterator_to_array((new Client(self::$url))->paginate($row['path'], $row['query'] ?? []), false);
            $this->assertSame($row['ids'] ?? 'a problem', array_column($items, 'id'));
        } catch (Problem $problem) {
            $this->assertArrayHasKey('problem', $row, $problem->getMessage());
            $this->checkProblem($problem, 0, $row['problem']);
        }
        $this->assertSame($row['targets'], array_map(static fn (array $one): string => explode(' ', $one[0][0])[1], self::requested()));
    }

    /** @dataProvider webhooks */
    public function testWebhooks(array $row): void
    {
        $now = json_decode(file_get_contents(__DIR__ . '/../../cases.json'), true)['now'];
        $headers = ['webhook-timestamp' => $row['timestamp'], 'webhook-signature' => $row['signature']];
        $headers += array_key_exists('id', $row) ? [] : ['webhook-id' => 'evt_1'];
        if (!$row['right']) {
            $this->expectException(WebhookError::class);
        }
        $secrets = $row['secrets'] ?? $row['secret'];
        $this->assertSame(['id' => 'evt_1'], Webhook::verify($secrets, $headers, base64_decode($row['body']), $row['tolerance'] ?? 300, $now));
    }

    /** An empty array is an empty list for PHP, and the API expects objects. */
    public function testAnEmptyArrayIsAnEmptyObjectAndListsStayLists(): void
    {
        self::answer(["HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"]);
        $client = new Client(self::$url);
        foreach ([[], ['a'], ['list' => [], 'object' => new stdClass()], [[]]] as $body) {
            $client->post('/', $body);
        }
        $this->assertSame(['{}', '["a"]', '{"list":[],"object":{}}', '[[]]'], array_column(self::requested(), 1));
    }

    public function testTimesAreSentAsTheApiWritesThem(): void
    {
        self::answer(["HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"]);
        $time = new DateTimeImmutable('2026-01-31 12:30:00.5', new DateTimeZone('UTC'));
        (new Client(self::$url))->request('POST', '/', ['list' => [['at' => $time]]], ['at' => $time]);
        [[$lines, $body]] = self::requested();
        $this->assertStringContainsString('/?at=2026-01-31T12%3A30%3A00.500%2B00%3A00 ', $lines[0]);
        $this->assertSame('{"list":[{"at":"2026-01-31T12:30:00.500+00:00"}]}', $body);
    }

    /** PSR-7, Symfony and Laravel have a list of values for each header. */
    public function testHeadersOfAWebhookCanBeLists(): void
    {
        $row = json_decode(file_get_contents(__DIR__ . '/../../cases.json'), true)['webhooks'][0];
        $headers = ['Webhook-Id' => ['evt_1'], 'Webhook-Timestamp' => [$row['timestamp']], 'Webhook-Signature' => ['v1,AAAA', $row['signature']]];
        $this->assertSame(['id' => 'evt_1'], Webhook::verify($row['secret'], $headers, '{"id":"evt_1"}', now: (int) $row['timestamp']));
    }

    public function testABodyThatJsonCannotExpressIsNotSent(): void
    {
        $this->expectException(JsonException::class);
        (new Client('http://127.0.0.1:9'))->post('/', ['amount' => NAN]);
    }
}
