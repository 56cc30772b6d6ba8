// The cases of `clients/cases.json`, which all six clients share.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import test from 'node:test';

import { Client, Problem, WebhookError, verifyWebhook } from '../client.js';

const cases = JSON.parse(readFileSync(new URL('../../cases.json', import.meta.url)));

/** Answers each request with the bytes of `reply`, and keeps the request. */
const stub = { reply: '', slow: false, requests: [] };
const server = createServer((socket) => {
  let received = '';
  socket.on('error', () => {}); // the client does not wait for the rest
  socket.on('data', async (bytes) => {
    received += bytes;
    const [head, body] = received.split('\r\n\r\n');
    if (body === undefined || body.length < Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)) return;
    stub.requests.push(head);
    const [start, content] = stub.reply.split('\r\n\r\n');
    socket.write(`${start}\r\n\r\n`);
    for (const part of stub.slow ? content : [content]) {
      socket.write(part);
      if (stub.slow) await new Promise((resume) => setTimeout(resume, 100));
    }
    socket.end();
  });
});
test.before(() => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
test.after(() => server.close());
const client = (options) => new Client({ baseUrl: `http://127.0.0.1:${server.address().port}`, retries: 0, ...options });

for (const { name, method, reply, slow = false, status, problem } of cases.replies) {
  test(name, async () => {
    Object.assign(stub, { reply, slow, requests: [] });
    const result = await client({ timeoutMs: 1_000 }).request(method, '/').catch((error) => error);
    assert.equal(result.status, status);
    if (problem) {
      assert.ok(result instanceof Problem);
      assert.deepEqual([result.code, result.retryable], [problem.code, problem.retryable]);
      assert.ok(result.detail.includes(problem.detail), result.detail);
    } else {
      assert.equal(result.body.length, 0);
    }
    assert.equal(stub.requests.length, 1);
  });
}

for (const { name, method, path, query, headers, client_headers, target, sent = {}, unsent } of cases.requests) {
  test(name, async () => {
    Object.assign(stub, { reply: 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n', slow: false, requests: [] });
    await client({ headers: client_headers }).request(method, path, { query, headers, body: method === 'POST' ? {} : undefined });
    const [first, ...lines] = stub.requests[0].split('\r\n');
    assert.equal(first.split(' ')[1], target);
    const found = lines.map((line) => line.split(': ')).map(([header, value]) => [header.toLowerCase(), value]);
    for (const [header, value] of Object.entries(sent)) assert.deepEqual(found.filter(([given]) => given === header), [[header, value]]);
    assert.ok(!found.some(([, value]) => value === unsent));
  });
}

for (const { name, secret, timestamp, signature, body, right } of cases.webhooks) {
  test(name, () => {
    const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    const verify = () => verifyWebhook(secret, headers, Buffer.from(body, 'base64'), { now: cases.now });
    if (right) assert.deepEqual(verify(), { id: 'evt_1' });
    else assert.throws(verify, WebhookError);
  });
}

test('a body that JSON cannot express is not sent', async () => {
  await assert.rejects(client().post('/', { amounts: [1, NaN] }), TypeError);
});
