<?php

declare(strict_types=1);

use FinanceSandbox\Client;
use FinanceSandbox\Problem;
use FinanceSandbox\Testing\Sandbox;
use FinanceSandbox\Testing\Unmet;
use FinanceSandbox\Testing\UsesSandbox;
use FinanceSandbox\Webhook;
use FinanceSandbox\WebhookError;
use PHPUnit\Framework\TestCase;

/** The same twelve steps in every language, against the real program. */
final class TwelveStepsTest extends TestCase
{
    use UsesSandbox;

    private const RUNS = '/api/business/payroll-runs';

    public function testTwelveSteps(): void
    {
        $world = $this->world();
        $client = $world->client;
        // 1. Read a list.
        $companies = $client->get('/api/business/companies');
        $this->assertSame(200, $companies->status);
        $company = $companies->body['data'][0]['id'];
        $run = ['company_id' => $company, 'period' => '2026-01'];
        // 2. Iterate over pages.
        $people = array_column(iterator_to_array($client->paginate('/api/business/employees', ['company_id' => $company, 'per_page' => 10]), false), 'id');
        $this->assertSame([25, 25], [count($people), count(array_unique($people))]);
        // 3. Read a refusal, which is not sent again.
        $problem = $this->problem(fn () => $client->post('/v1/payroll/run', $run + ['employees' => ['emp_0000000000000']]));
        $this->assertSame([404, 'resource_not_found', false], [$problem->status, $problem->code, $problem->retryable]);
        $this->assertSame('/employees/0', $problem->errors[0]['pointer']);
        $this->assertStringStartsWith('req_', $problem->requestId);
        $world->verify(['operation' => 'runPayroll', 'times' => 1]);
        // 4. Receive webhooks.
        $receiver = $world->receiver('payroll_run.*');
        // 5. Lose a reply after the commit. The retry has the same key and does not pay twice.
        $world->fault(['on' => 'runPayroll', 'lose' => 'reply', 'times' => 1]);
        $accepted = $client->post('/v1/payroll/run', $run);
        $this->assertSame([201, 'true'], [$accepted->status, $accepted->headers['idempotent-replayed']]);
        $id = $accepted->body['data']['id'];
        $world->verify(['operation' => 'runPayroll', 'match' => ['status' => 201], 'times' => 2]);
        $world->verify(['type' => 'payroll_run.created', 'times' => 1]);
        // 6. Take a snapshot and fork the world.
        $before = $world->snapshot();
        $copy = $world->fork();
        // 7. Advance the clock; every person is paid once.
        $world->advance('30d');
        $paid = $client->get(self::RUNS . "/$id")->body['data'];
        $this->assertSame('paid', $paid['status']);
        $world->verify(['type' => 'payroll_run.paid', 'times' => 1]);
        $world->verify(['type' => 'payout.paid', 'times' => $paid['employee_count']]);
        $this->assertSame('calculating', $copy->client->get(self::RUNS . "/$id")->body['data']['status']);
        // 8. Wait for a webhook, whose signature is checked.
        $event = $receiver->waitFor('payroll_run.paid');
        $this->assertSame([$id, []], [$event['data']['object']['id'], $receiver->refused]);
        $this->assertSame(['delivered'], array_column($world->deliveries(['event_type' => 'payroll_run.paid']), 'status'));
        // 9. Read a PDF.
        $payslip = $client->get('/api/business/payslips', ['payroll_run_id' => $id, 'per_page' => 1])->body['data'][0];
        $this->assertStringStartsWith('%PDF-', $client->pdf("/api/business/payslips/{$payslip['id']}"));
        // 10. Wait as long as `Retry-After` says.
        $world->fault(['on' => 'listEmployees', 'status' => 503, 'retry_after' => '1s', 'times' => 1]);
        $started = hrtime(true);
        $this->assertSame(200, $client->get('/api/business/employees')->status);
        $this->assertGreaterThanOrEqual(990_000_000, hrtime(true) - $started);
        // 11. Go back, and let the bank refuse one payout.
        $world->restore($before);
        $this->assertSame('calculating', $client->get(self::RUNS . "/$id")->body['data']['status']);
        $copy->scenario('partial-failure');
        $copy->client->post('/v1/payroll/run', ['period' => '2026-03'] + $run);
        $copy->advance('30d');
        $partial = $copy->client->get(self::RUNS, ['period' => '2026-03', 'company_id' => $company])->body['data'][0];
        $this->assertSame(['partially_paid', 1], [$partial['status'], $partial['settlement']['failed']]);
        $this->assertCount(1, $copy->events(['type' => 'payout.failed']));
        // 12. A failed verification names the near miss; the report has events and decisions.
        try {
            $world->verify(['operation' => 'runPayroll', 'match' => ['body' => ['period' => '2026-02']]]);
            $this->fail('no call had this period');
        } catch (Unmet $unmet) {
            $this->assertMatchesRegularExpression('~/body/period.*2026-01~', $unmet->getMessage());
        }
        $report = $world->report();
        $this->assertStringContainsString('payroll_run.created prn_', $report);
        $this->assertStringContainsString('payroll_run.calculate=on_time by default', $report);
        $this->assertStringContainsString('POST /v1/payroll/run 404 resource_not_found', $report);
        $this->assertMatchesRegularExpression("~near misses:\n.*2026-02~", $report);
        $this->assertStringContainsString('payroll_run.partially_paid prn_', $copy->report()); // the last events of many
    }

    public function testWebhookSignatures(): void
    {
        [$secret, $id, $now] = ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk', 1649367553];
        [$body, $right] = ['{"email":"test@example.com","username":"test_user"}', 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw='];
        $other = 'whsec_' . base64_encode(str_repeat("\0", 24));
        $headers = static fn (string $signature, string $at = '1649367553'): array => ['Webhook-Id' => $id, 'webhook-timestamp' => $at, 'webhook-signature' => $signature];
        $this->assertSame('test_user', Webhook::verify($secret, $headers($right), $body, now: $now)['username']);
        $this->assertNotEmpty(Webhook::verify([$other, $secret], $headers("v1,AAAA v2,BBBB $right"), $body, now: $now + 299));
        $wrong = [
            [$other, $headers($right), $body, $now], [$secret, $headers($right), "$body ", $now], [$secret, $headers($right), $body, $now + 301],
            [$secret, $headers($right), $body, $now - 301], [$secret, $headers(''), $body, $now], [$secret, $headers($right, ''), $body, $now],
            // Without a secret, anyone could sign.
            ['', $headers('v1,TxHn/RBa2mQ2GpApCz3ahGwUTfWQtptCladBBU+Nv9k='), $body, $now], ['whsec_()', $headers($right), $body, $now],
        ];
        foreach ($wrong as $number => [$key, $sent, $content, $at]) {
            try {
                Webhook::verify($key, $sent, $content, now: $at);
                $this->fail("case $number is wrong");
            } catch (WebhookError $error) {
                $this->assertStringContainsString($number < 6 ? 'webhook-' : 'the secret is empty', $error->getMessage());
            }
        }
    }

    public function testAFailingTestPrintsWhatHappenedInItsWorld(): void
    {
        $class = 'FailingTest' . getmypid();
        $test = sys_get_temp_dir() . "/$class.php";
        file_put_contents($test, <<<PHP
            <?php
            final class $class extends PHPUnit\\Framework\\TestCase {
                use FinanceSandbox\\Testing\\UsesSandbox;
                public function testThatFails(): void {
                    try { \$this->world()->client->get('/api/business/employees/emp_0000000000000'); } catch (FinanceSandbox\\Problem) {}
                    \$this->assertSame(1, 2);
                }
                public function testWhoseVerificationFails(): void {
                    \$this->world()->verify(['type' => 'payroll_run.paid', 'times' => 1]);
                }
                public function testWhoseServerHasEnded(): void {
                    \$this->world();
                    FinanceSandbox\\Testing\\Sandbox::shared()->stop();
                    \$this->assertSame(3, 4);
                }
            }
            PHP);
        exec(escapeshellarg($_SERVER['argv'][0]) . ' --do-not-cache-result --no-configuration --bootstrap ' . escapeshellarg(__DIR__ . '/bootstrap.php') . ' ' . escapeshellarg($test) . ' 2>&1', $lines, $code);
        unlink($test);
        $this->assertSame(1, $code, implode("\n", $lines));
        $this->assertContains('  GET /api/business/employees/emp_0000000000000 404 resource_not_found', $lines);
        $this->assertContains('Failed asserting that 4 is identical to 3.', $lines);
        $this->assertContains('Tests: 3, Assertions: 2, Failures: 3.', $lines); // and no errors
        $this->assertStringContainsString('no report of the world: 0 no_reply', implode("\n", $lines));
    }

    public function testTheClientGivesUpAfterItsRetries(): void
    {
        $world = $this->world();
        $world->fault(['on' => 'listEmployees', 'status' => 503, 'times' => 10]);
        $client = new Client($world->client->baseUrl, $world->key, retries: 1);
        $problem = $this->problem(fn () => $client->get('/api/business/employees'));
        $this->assertSame([503, 'maintenance'], [$problem->status, $problem->code]);
        $world->verify(['operation' => 'listEmployees', 'times' => 2]);
        $world->fault(['on' => 'listCompanies', 'body' => 'garbage', 'times' => 1]);
        $this->assertSame(200, $client->get('/api/business/companies')->status);
    }

    public function testTheAnswersOfAProxy(): void
    {
        $router = tempnam(sys_get_temp_dir(), 'proxy');
        file_put_contents($router, <<<'PHP'
            <?php
            file_put_contents(__FILE__ . '.calls', $_SERVER['REQUEST_METHOD'] . ' ', FILE_APPEND);
            header('Retry-After: ' . gmdate('D, d M Y H:i:s', time() + 2) . ' GMT');
            http_response_code(file_get_contents(__FILE__ . '.calls') === 'GET GET ' ? 200 : 503);
            PHP);
        $free = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($free, false);
        fclose($free);
        $proxy = proc_open([PHP_BINARY, '-S', $address, $router], [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
        putenv('http_proxy=http://127.0.0.1:9'); // not for servers of this machine
        try {
            fgets($pipes[2]); // it listens
            $client = new Client("http://$address");
            $started = microtime(true);
            $this->assertSame(200, $client->get('/')->status);
            $waited = microtime(true) - $started; // until the date of `Retry-After`
            $this->assertTrue($waited >= 0.9 && $waited < 5, "$waited s");
            // It does not say whether the change took effect.
            $this->assertSame(503, $this->problem(fn () => $client->request('PATCH', '/', []))->status);
            $this->assertSame('GET GET PATCH ', file_get_contents("$router.calls"));
        } finally {
            putenv('http_proxy');
            proc_terminate($proxy);
            array_map('unlink', glob("$router*"));
        }
    }

    public function testErrorsOfOthersInJsonAreProblemsAndAMethodInLowerCaseHasAKey(): void
    {
        $router = tempnam(sys_get_temp_dir(), 'proxy');
        file_put_contents($router, <<<'PHP'
            <?php
            file_put_contents(__FILE__ . '.keys', ($_SERVER['HTTP_IDEMPOTENCY_KEY'] ?? 'none') . ' ', FILE_APPEND);
            header('Content-Type: application/json');
            http_response_code(503);
            readfile(__FILE__ . '.body');
            PHP);
        $free = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($free, false);
        fclose($free);
        $proxy = proc_open([PHP_BINARY, '-S', $address, $router], [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
        try {
            fgets($pipes[2]); // it listens
            $client = new Client("http://$address", retries: 1);
            foreach (['{"error":"upstream"}', '{"error":null}', '{"errors":null}', '{"errors":["a"]}', '[1]', '7', 'null', '"down"'] as $body) {
                file_put_contents("$router.body", $body);
                file_put_contents("$router.keys", '');
                $problem = $this->problem(fn () => $client->request('post', '/', []));
                $this->assertSame([503, [], true], [$problem->status, $problem->errors, $problem->retryable], $body);
                $keys = explode(' ', trim(file_get_contents("$router.keys")));
                $this->assertTrue(count($keys) === 2 && $keys[0] !== 'none' && $keys[0] === $keys[1], $body);
            }
            file_put_contents("$router.body", '{"error":{"code":"down","errors":["a",{"pointer":"/b","detail":"c"}]}}');
            $problem = $this->problem(fn () => $client->get('/'));
            $this->assertSame(['down', [['pointer' => '/b', 'detail' => 'c']]], [$problem->getCode(), $problem->errors]);
        } finally {
            proc_terminate($proxy);
            array_map('unlink', glob("$router*"));
        }
    }

    public function test_live_updates_is_a_name_of_a_world(): void
    {
        $this->assertSame(200, $this->world()->client->get('/api/business/companies')->status);
    }

    public function testAWrongProgramIsNamed(): void
    {
        $script = tempnam(sys_get_temp_dir(), 'program');
        file_put_contents($script, "#!/bin/sh\nexit 127\n");
        chmod($script, 0700);
        $wrong = [
            '/no-such-program does not start: No such file;.*SANDBOX_BIN' => ['/no-such-program', []],
            'no-such-program does not start: No such file;' => ['no-such-program', []],
            'does not start: Permission denied;.*SANDBOX_BIN' => [__DIR__, []],
            'Test.php does not start: Permission denied;' => [__FILE__, []],
            'does not serve: it ended with 127;' => [$script, []],
            'echo does not serve: .*SANDBOX_BIN' => ['echo', []],
            'serve: it ended with 2' => [null, ['--bogus']],
        ];
        foreach ($wrong as $expected => [$binary, $args]) {
            try {
                Sandbox::start($binary, args: $args);
                $this->fail("$expected starts");
            } catch (\RuntimeException $error) {
                $this->assertMatchesRegularExpression("~$expected~s", $error->getMessage());
            }
        }
        unlink($script);
    }

    /** A pipe would be full after about sixty events, and the deliveries would fail. */
    public function testAReceiverTakesManyEventsBeforeTheTestWaits(): void
    {
        $world = $this->world();
        $receiver = $world->receiver();
        $company = $world->client->get('/api/business/companies')->body['data'][0]['id'];
        $world->client->post('/v1/payroll/run', ['company_id' => $company, 'period' => '2026-01']);
        $world->client->post('/v1/payroll/run', ['company_id' => $company, 'period' => '2026-02']);
        $world->advance('60d');
        $last = $world->events(['per_page' => 1, 'sort' => '-sequence'])[0];
        $receiver->waitFor($last['type'], where: static fn (array $event): bool => $event['id'] === $last['id']);
        $this->assertGreaterThan(100, count($receiver->events));
        $this->assertSame([], $receiver->refused);
        $this->assertSame([], $world->deliveries(['status' => 'failed']));
    }

    /** @requires function pcntl_fork */
    public function testAForkDoesNotKeepTheProgram(): void
    {
        $sandbox = Sandbox::start();
        $fork = pcntl_fork();
        if ($fork === 0) {
            $sandbox->stop(); // ends nothing
            sleep(30);
            posix_kill(getmypid(), 9);
        }
        $health = (new Client($sandbox->url()))->get('/_sandbox/health');
        $started = microtime(true);
        $this->assertSame([200, 0], [$health->status, $sandbox->stop()]);
        $this->assertLessThan(10, microtime(true) - $started);
        posix_kill($fork, 9);
        pcntl_waitpid($fork, $status);
    }

    public function testATestThatRunsAgainHasItsWorldInItsFirstState(): void
    {
        $states = [];
        for ($run = 0; $run < 2; $run++) {
            $world = Sandbox::shared()->world('again');
            $states[] = [$world->control('GET', '/fingerprint')['data'], $world->control('GET', '/webhook-endpoints')['data']];
            $world->control('POST', '/webhook-endpoints', ['url' => 'http://127.0.0.1:9/']);
            $world->control('POST', '/reset', ['seed' => 7]);
            $world->scenario('partial-failure');
        }
        $this->assertSame([], $states[0][1]);
        $this->assertSame($states[0], $states[1]);
    }

    public function testNamesThatDifferInWhatAKeyDoesNotHaveHaveTheirOwnWorlds(): void
    {
        [$long, $live] = [str_repeat('a', 300), str_repeat('live ', 48)];
        $worlds = array_map(Sandbox::shared()->world(...), ['a b', 'a-b', 'a  b', 'a b~1', 'é', 'ü', $long, "b$long", $live, "b$live"]);
        $keys = array_column($worlds, 'key');
        foreach ($worlds as $world) {
            $keys[] = $world->fork()->key;
        }
        $this->assertCount(20, array_unique($keys));
        $this->assertSame(['test_a-b', 'test_-~4a99557e'], [$keys[0], $keys[4]]);
        $this->assertStringStartsWith('test_a-b~', $keys[10]);
    }

    public function testAServerThatHasEndedIsNamed(): void
    {
        $sandbox = Sandbox::start();
        $world = $sandbox->world('killed');
        $program = (new ReflectionProperty(Sandbox::class, 'program'))->getValue($sandbox);
        proc_terminate((new ReflectionProperty($program, 'process'))->getValue($program), 9);
        foreach ([$world->snapshot(...), $world->report(...), static fn () => $sandbox->world('next')] as $call) {
            $this->assertMatchesRegularExpression('~^0 no_reply: .*; the sandbox has ended with signal 9$~', $this->problem($call)->getMessage());
        }
        $sandbox->stop();
        $sandbox = Sandbox::start();
        $world = $sandbox->world('stopped');
        $this->assertSame(0, $sandbox->stop());
        $this->assertStringEndsWith('; the sandbox has ended with exit code 0', $this->problem($world->snapshot(...))->getMessage());
    }

    public function testStopEndsTheProgramCleanly(): void
    {
        $sandbox = Sandbox::start();
        $this->assertSame(0, $sandbox->stop());
        $problem = $this->problem(fn () => (new Client($sandbox->url(), retries: 0))->get('/_sandbox/health'));
        $this->assertSame([0, 'no_reply'], [$problem->status, $problem->code]);
        $this->assertSame(0, $sandbox->stop()); // a second call returns the same
    }

    private function problem(callable $call): Problem
    {
        try {
            $call();
        } catch (Problem $problem) {
            return $problem;
        }
        $this->fail('the call was not refused');
    }
}
