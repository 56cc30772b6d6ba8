// The cases of `clients/cases.json`, which all six clients share.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import test from 'node:test';

import { Client, Problem, WebhookError, verifyWebhook } from '../client.js';

const cases = JSON.parse(readFileSync(new URL('../../cases.json', import.meta.url)));

/** Answers the requests with the bytes of `replies`, the last of them again and again, and keeps the requests. */
const stub = { replies: [], slowFrom: undefined, requests: [] };
const server = createServer((socket) => {
  let received = Buffer.alloc(0);
  socket.on('error', () => {}); // the client does not wait for the rest
  socket.on('data', async (bytes) => {
    received = Buffer.concat([received, bytes]);
    const end = received.indexOf('\r\n\r\n');
    const head = received.subarray(0, end).toString();
    const body = received.subarray(end + 4);
    if (end < 0 || body.length < Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)) return;
    const reply = stub.replies[Math.min(stub.requests.length, stub.replies.length - 1)];
    stub.requests.push({ head, body: body.toString() });
    const fast = stub.slowFrom ?? reply.length;
    socket.write(reply.subarray(0, fast));
    for (let at = fast; at < reply.length && !socket.destroyed; at += 1) {
      socket.write(reply.subarray(at, at + 1));
      await new Promise((resume) => setTimeout(resume, 100));
    }
    socket.end();
  });
});
test.before(() => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
test.after(() => server.close());
const client = (options) => new Client({ baseUrl: `http://127.0.0.1:${server.address().port}`, retries: 0, ...options });

function checkProblem(problem, status, expected) {
  assert.ok(problem instanceof Problem, problem);
  assert.deepEqual([problem.status, problem.code, problem.retryable], [status, expected.code, expected.retryable]);
  assert.ok(problem.detail.includes(expected.detail), problem.detail);
}

function replyOf({ times = 1, content = '' }, reply) {
  const [head, ...parts] = reply.split('\r\n\r\n');
  const text = parts.length ? `${head}\r\n\r\n${parts.join('\r\n\r\n').repeat(times)}` : head;
  return Buffer.concat([Buffer.from(text), Buffer.from(content, 'base64')]);
}

for (const row of cases.replies) {
  test(row.name, async () => {
    const replies = (row.replies ?? [row.reply]).map((reply) => replyOf(row, reply));
    const slowFrom = row.slow_head ? 40 : row.slow ? replies[0].indexOf('\r\n\r\n') + 4 : undefined;
    Object.assign(stub, { replies, slowFrom, requests: [] });
    const started = Date.now();
    const result = await client({ timeoutMs: 1_000, retries: row.replies ? 3 : 0 }).request(row.method, '/').catch((error) => error);
    if (row.problem) checkProblem(result, row.status, row.problem);
    else {
      assert.equal(result.status, row.status, result);
      assert.deepEqual(row.json ? result.body : result.body.toString(), row.json ?? row.text ?? '');
    }
    const seconds = (Date.now() - started) / 1_000;
    assert.ok(seconds >= (row.waits ?? 0) && seconds < 3, String(seconds));
    assert.equal(stub.requests.length, row.requests ?? 1);
    const keys = stub.requests.map(({ head }) => /^idempotency-key: (.+)$/im.exec(head)?.[1]);
    assert.equal(keys.filter(Boolean).length, row.method === 'POST' ? keys.length : 0);
    assert.equal(new Set(keys).size, 1);
  });
}

for (const { name, method, path, query, headers, client_headers, body, target, sent = {}, unsent, refused, new_key } of cases.requests) {
  test(name, async () => {
    Object.assign(stub, { replies: [Buffer.from('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')], slowFrom: undefined, requests: [] });
    const content = method === 'POST' ? body ?? {} : undefined;
    const call = client({ headers: client_headers, retries: 3 }).request(method, path, { query, headers, body: content });
    if (refused) {
      await assert.rejects(call, TypeError);
      assert.equal(stub.requests.length, 0);
      return;
    }
    await call;
    const [first, ...lines] = stub.requests[0].head.split('\r\n');
    assert.equal(first.split(' ')[1], target);
    assert.deepEqual(JSON.parse(stub.requests[0].body || 'null'), content ?? null);
    const found = lines.map((line) => line.split(': ')).map(([header, value]) => [header.toLowerCase(), value]);
    for (const [header, value] of Object.entries(sent)) assert.deepEqual(found.filter(([given]) => given === header), [[header, value]]);
    assert.ok(!found.some(([, value]) => value === unsent));
    if (new_key) assert.deepEqual(found.filter(([header]) => header === 'idempotency-key').map(([, value]) => Boolean(value)), [true]);
  });
}

for (const { name, path, query, replies, targets, ids, problem } of cases.pages) {
  test(name, async () => {
    Object.assign(stub, { replies: replies.map((reply) => Buffer.from(reply)), slowFrom: undefined, requests: [] });
    const found = [];
    const read = async () => { for await (const item of client().paginate(path, query)) found.push(item.id); };
    if (problem) checkProblem(await read().catch((error) => error), 0, problem);
    else {
      await read();
      assert.deepEqual(found, ids);
    }
    assert.deepEqual(stub.requests.map(({ head }) => head.split(' ')[1]), targets);
  });
}

for (const { name, secret, secrets = secret, id = 'evt_1', timestamp, signature, body, right, tolerance } of cases.webhooks) {
  test(name, () => {
    const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': signature, ...(id !== null && { 'webhook-id': id }) };
    const verify = () => verifyWebhook(secrets, headers, Buffer.from(body, 'base64'), { now: cases.now, toleranceSeconds: tolerance });
    if (right) assert.deepEqual(verify(), { id: 'evt_1' });
    else assert.throws(verify, WebhookError);
  });
}

test('a body that JSON cannot express is not sent', async () => {
  await assert.rejects(client().post('/', { amounts: [1, NaN] }), TypeError);
});

test('times are sent as the API writes them, and null is no body', async () => {
  Object.assign(stub, { replies: [Buffer.from('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')], slowFrom: undefined, requests: [] });
  const at = new Date(Date.UTC(2026, 0, 31, 12, 30));
  await client().request('POST', '/list', { query: { at }, body: { at } });
  await client().post('/list', null, { idempotencyKey: null });
  const [first, second] = stub.requests;
  assert.equal(first.head.split(' ')[1], '/list?at=2026-01-31T12%3A30%3A00.000Z');
  assert.equal(first.body, '{"at":"2026-01-31T12:30:00.000Z"}');
  assert.equal(second.body, '');
  assert.match(second.head, /^idempotency-key: [0-9a-f-]{36}$/im);
});
