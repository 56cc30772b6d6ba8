// The same twelve steps in every language, against the real program.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { Client, Problem, WebhookError, verifyWebhook } from '../client.js';
import { Sandbox, withWorld } from '../kit.js';

const it = withWorld(test);
const RUNS = '/api/business/payroll-runs';

it('twelve steps', async (world) => {
  const { client } = world;
  // 1. Read a list.
  const companies = await client.get('/api/business/companies');
  assert.equal(companies.status, 200);
  const company = companies.body.data[0].id;
  const run = { company_id: company, period: '2026-01' };
  // 2. Iterate over pages.
  const people = [];
  for await (const person of client.paginate('/api/business/employees', { company_id: company, per_page: 10 })) people.push(person.id);
  assert.equal(new Set(people).size, 25);
  // 3. Read a refusal, which is not sent again.
  const refused = await client.post('/v1/payroll/run', { ...run, employees: ['emp_0000000000000'] }).catch((error) => error);
  assert.ok(refused instanceof Problem);
  assert.deepEqual([refused.status, refused.code, refused.retryable], [404, 'resource_not_found', false]);
  assert.equal(refused.errors[0].pointer, '/employees/0');
  assert.match(refused.requestId, /^req_/);
  await world.verify({ operation: 'runPayroll', times: 1 });
  // 4. Receive webhooks.
  const receiver = await world.receiver('payroll_run.*');
  // 5. Lose a reply after the commit. The retry has the same key and does not pay twice.
  await world.fault({ on: 'runPayroll', lose: 'reply', times: 1 });
  const accepted = await client.post('/v1/payroll/run', run);
  assert.deepEqual([accepted.status, accepted.headers.get('idempotent-replayed')], [201, 'true']);
  const id = accepted.body.data.id;
  await world.verify({ operation: 'runPayroll', match: { status: 201 }, times: 2 });
  await world.verify({ type: 'payroll_run.created', times: 1 });
  // 6. Take a snapshot and fork the world.
  const before = await world.snapshot();
  const copy = await world.fork();
  // 7. Advance the clock; every person is paid once.
  await world.advance('30d');
  const paid = (await client.get(`${RUNS}/${id}`)).body.data;
  assert.equal(paid.status, 'paid');
  await world.verify({ type: 'payroll_run.paid', times: 1 });
  await world.verify({ type: 'payout.paid', times: paid.employee_count });
  assert.equal((await copy.client.get(`${RUNS}/${id}`)).body.data.status, 'calculating');
  // 8. Wait for a webhook, whose signature is checked.
  const event = await receiver.waitFor('payroll_run.paid');
  assert.deepEqual([event.data.object.id, receiver.refused.length], [id, 0]);
  assert.ok((await world.deliveries({ event_type: 'payroll_run.paid' })).every((one) => one.status === 'delivered'));
  // 9. Read a PDF.
  const [payslip] = (await client.get('/api/business/payslips', { payroll_run_id: id, per_page: 1 })).body.data;
  const pdf = await client.pdf(`/api/business/payslips/${payslip.id}`);
  assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  // 10. Wait as long as `Retry-After` says.
  await world.fault({ on: 'listEmployees', status: 503, retry_after: '1s', times: 1 });
  const started = performance.now();
  assert.equal((await client.get('/api/business/employees')).status, 200);
  assert.ok(performance.now() - started >= 990);
  // 11. Go back, and let the bank refuse one payout.
  await world.restore(before);
  assert.equal((await client.get(`${RUNS}/${id}`)).body.data.status, 'calculating');
  await copy.scenario('partial-failure');
  await copy.client.post('/v1/payroll/run', { ...run, period: '2026-03' });
  await copy.advance('30d');
  const [partial] = (await copy.client.get(RUNS, { period: '2026-03', company_id: company })).body.data;
  assert.deepEqual([partial.status, partial.settlement.failed], ['partially_paid', 1]);
  assert.equal((await copy.events({ type: 'payout.failed' })).length, 1);
  // 12. A failed verification names the near miss; the report has events and decisions.
  await assert.rejects(world.verify({ operation: 'runPayroll', match: { body: { period: '2026-02' } } }), /\/body\/period.*2026-01/);
  const report = await world.report();
  assert.match(report, /payroll_run\.created prn_/);
  assert.match(report, /payroll_run\.calculate=on_time by default/);
  assert.match(report, /POST \/v1\/payroll\/run 404 resource_not_found/);
  assert.match(report, /near misses:\n.*2026-02/);
  assert.match(await copy.report(), /payroll_run\.partially_paid prn_/); // the last events of many
  await copy.close();
});

test('webhook signatures', () => {
  const [secret, id, now] = ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk', 1649367553];
  const body = '{"email":"test@example.com","username":"test_user"}';
  const right = 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=';
  const headers = (signature, at = now) => ({ 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature });
  const other = `whsec_${Buffer.alloc(24).toString('base64')}`;
  assert.equal(verifyWebhook(secret, headers(right), body, { now }).username, 'test_user');
  assert.ok(verifyWebhook([other, secret], headers(`v1,AAAA v2,BBBB ${right}`), body, { now: now + 299 }));
  assert.ok(verifyWebhook(secret, new Headers(headers(right)), Buffer.from(body), { now }));
  const wrong = [[other, headers(right), body, now], [secret, headers(right), `${body} `, now], [secret, headers(right), body, now + 301],
    [secret, headers(right), body, now - 301], [secret, headers(''), body, now], [secret, headers(right, ''), body, now],
    // Without a secret, anyone could sign.
    ['', headers('v1,TxHn/RBa2mQ2GpApCz3ahGwUTfWQtptCladBBU+Nv9k='), body, now], ['whsec_()', headers(right), body, now], [`${secret}!`, headers(right), body, now]];
  for (const [key, sent, bytes, at] of wrong) assert.throws(() => verifyWebhook(key, sent, bytes, { now: at }), WebhookError);
});

test('a test that fails prints what happened in its world', async () => {
  const failing = withWorld(async (name, body) => body());
  const error = await failing('a failing test', async (world) => {
    await world.client.get('/api/business/employees/emp_0000000000000').catch(() => {});
    assert.equal(1, 2);
  }).catch((thrown) => thrown);
  assert.match(error.message, /GET \/api\/business\/employees\/emp_0000000000000 404 resource_not_found/);
});

test('a process ends with a receiver of a fork, and with one that nothing closes', () => {
  const script = `
    import { Sandbox, withWorld } from '${new URL('../kit.js', import.meta.url)}';
    const run = withWorld((name, body) => body());
    await run('a fork', async (world) => (await world.fork()).receiver());
    await (await (await Sandbox.shared()).world('open')).receiver();`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { timeout: 20_000, encoding: 'utf8' });
  assert.deepEqual([ended.status, ended.signal, ended.stderr], [0, null, '']);
});

test('the client gives up after its retries, and does not repeat what may not be repeated', async () => {
  const world = await (await Sandbox.shared()).world('retries');
  await world.fault({ on: 'listEmployees', status: 503, times: 10 });
  const client = new Client({ baseUrl: world.sandbox.url, apiKey: world.key, retries: 1 });
  await assert.rejects(client.get('/api/business/employees'), { status: 503, code: 'maintenance' });
  await world.verify({ operation: 'listEmployees', times: 2 });
  await world.fault({ on: 'listCompanies', body: 'garbage', times: 1 });
  assert.equal((await client.get('/api/business/companies')).status, 200);
});

test('the answers of a proxy', async (context) => {
  const calls = [];
  const proxy = createServer((request, reply) => {
    calls.push(request.method);
    reply.writeHead(calls.join() === 'GET,GET' ? 200 : 503, { 'retry-after': new Date(Date.now() + 2_000).toUTCString() }).end();
  });
  context.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const client = new Client({ baseUrl: `http://127.0.0.1:${proxy.address().port}` });
  const started = performance.now();
  assert.equal((await client.get('/')).status, 200);
  const waited = performance.now() - started;
  assert.ok(waited >= 900 && waited < 5_000, `${waited} ms until the date of Retry-After`);
  // It does not say whether the change took effect.
  await assert.rejects(client.request('PATCH', '/', { body: {} }), { status: 503 });
  assert.deepEqual(calls, ['GET', 'GET', 'PATCH']);
});

test('errors of others in JSON are problems, and a method in lower case has a key', async (context) => {
  let body = '', keys = [];
  const proxy = createServer((request, reply) => {
    keys.push(request.headers['idempotency-key']);
    reply.writeHead(503, { 'content-type': 'application/json' }).end(body);
  });
  context.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const client = new Client({ baseUrl: `http://127.0.0.1:${proxy.address().port}`, retries: 1 });
  for (body of ['{"error":"upstream"}', '{"error":null}', '{"errors":null}', '{"errors":["a"]}', '[1]', '7', 'null', '"down"']) {
    keys = [];
    await assert.rejects(client.request('post', '/', { body: {} }), { name: 'Problem', status: 503, errors: [], retryable: true }, body);
    assert.ok(keys.length === 2 && keys[0] && keys[0] === keys[1], `${body}: ${keys}`);
  }
  body = '{"error":{"code":"down","errors":["a",{"pointer":"/b","detail":"c"}]}}';
  await assert.rejects(client.get('/'), { code: 'down', errors: [{ pointer: '/b', detail: 'c' }] });
});

test('tests of one name have worlds of their own', async (context) => {
  const sandbox = await Sandbox.start();
  context.after(() => sandbox.stop());
  const worlds = await Promise.all(['a', 'a', 'a~2', 'a~fork1'].map((name) => sandbox.world(name)));
  const copies = [await worlds[0].fork(), await worlds[0].fork(), await worlds[1].fork()];
  assert.equal(new Set([...worlds, ...copies].map((one) => one.key)).size, 7);
  assert.deepEqual([worlds[1].key, copies[1].key], ['test_a~2', 'test_a~fork2']);
});

test('a test that runs again has its world in its first state', async (context) => {
  const journal = mkdtempSync(join(tmpdir(), 'journal-'));
  context.after(() => rmSync(journal, { recursive: true }));
  const states = [];
  for (let run = 0; run < 2; run += 1) {
    const sandbox = await Sandbox.start({ args: ['--journal', journal] });
    context.after(() => sandbox.stop());
    const world = await sandbox.world('again');
    states.push(await Promise.all(['/fingerprint', '/webhook-endpoints'].map(async (path) => (await world.control('GET', path)).data)));
    await world.control('POST', '/webhook-endpoints', { url: 'http://127.0.0.1:9/' });
    await world.control('POST', '/reset', { seed: 7 });
    await world.scenario('partial-failure');
    assert.equal(await sandbox.stop(), 0);
  }
  assert.deepEqual(states[0][1], []);
  assert.deepEqual(states[0], states[1]);
});

test('names that differ in what a key does not have have their own worlds in any order', async (context) => {
  const names = ['é', 'ü', 'a'.repeat(300), `b${'a'.repeat(300)}`, 'a'.repeat(240), 'live '.repeat(48), 'a b', 'a-b', 'a  b', 'a_live b', 'a_live. b'];
  const keys = [];
  for (const order of [names, [...names].reverse()]) {
    const sandbox = await Sandbox.start();
    context.after(() => sandbox.stop());
    const found = new Map();
    for (const name of order) {
      const world = await sandbox.world(name);
      found.set(name, [world.key, (await (await world.fork()).fork()).key]);
    }
    keys.push(names.map((name) => found.get(name)));
  }
  assert.deepEqual(keys[0], keys[1]);
  assert.equal(new Set(keys[0].flat()).size, 2 * names.length);
  assert.deepEqual([keys[0][0][0], keys[0][6][0]], ['test_-~4a99557e', 'test_a-b']); // the hash of the other kits
});

it('test_live_updates is a name of a world', async (world) => {
  assert.equal((await world.client.get('/api/business/companies')).status, 200);
});

test('options and time limits of a test go on', async () => {
  const calls = [];
  const named = withWorld(async (name, ...rest) => {
    calls.push(rest.map((one) => typeof one));
    await rest.find((one) => typeof one === 'function')();
  });
  const keys = [];
  await named('with options', { timeout: 5_000 }, async (world) => { keys.push(world.key); });
  await named('with a limit', async (world) => { keys.push(world.key); }, 5_000);
  assert.deepEqual(calls, [['object', 'function'], ['function', 'number']]);
  assert.deepEqual(keys, ['test_with-options', 'test_with-a-limit']);
});

test('only, skip and todo are those of the test', async () => {
  const calls = [];
  const base = Object.assign(async (name, body) => body(), {
    skip: (name) => calls.push(`skip ${name}`),
    todo: (name) => calls.push(`todo ${name}`),
    only: async (name, body) => { calls.push(`only ${name}`); await body(); },
  });
  const named = withWorld(base);
  named.skip('a', () => {});
  named.todo('b');
  await named.only('c', async (world) => { calls.push(world.key); });
  assert.deepEqual(calls, ['skip a', 'todo b', 'only c', 'test_c']);
  assert.deepEqual(Object.keys(withWorld(async () => {})), []);
});

it.skip('a skipped test does not run', () => assert.fail());
it.todo('a test to write');

test('a wrong program is named', async () => {
  await assert.rejects(Sandbox.start({ binary: '/no-such-program' }), /no-such-program does not start: .*ENOENT; SANDBOX_BIN/);
  await assert.rejects(Sandbox.start({ binary: 'echo' }), /echo does not serve: .*SANDBOX_BIN/);
  await assert.rejects(Sandbox.start({ args: ['--clock', 'sundial'] }), /does not serve: it ended with 2/);
});

test('a server that has ended is named', async () => {
  const [killed, stopped] = await Promise.all([Sandbox.start(), Sandbox.start()]);
  const [world, other] = [await killed.world('killed'), await stopped.world('stopped')];
  killed.child.kill('SIGKILL');
  for (const call of [() => world.snapshot(), () => world.report(), () => killed.world('next')]) {
    await assert.rejects(call, { name: 'Problem', status: 0, code: 'no_reply', message: /; the sandbox has ended with signal 9$/ });
  }
  assert.equal(await stopped.stop(), 0);
  await assert.rejects(other.snapshot(), /; the sandbox has ended with exit code 0$/);
});

test('stop ends the program cleanly', async () => {
  const sandbox = await Sandbox.start();
  assert.equal(await sandbox.stop(), 0);
  await assert.rejects(new Client({ baseUrl: sandbox.url, retries: 0 }).get('/_sandbox/health'), { code: 'no_reply', status: 0 });
});
