// Checks modules of the dashboard without a browser: node modules.mjs FOLDER
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';

globalThis.sessionStorage = { getItem: () => null, setItem() {} };
const [format, api] = await Promise.all(['format.js', 'api.js'].map((name) => import(pathToFileURL(`${process.argv[2]}/${name}`))));

for (const [minor, currency, shown] of [
  [1234567, 'HUF', '12,345.67'], [1234567, 'IQD', '1,234.567'], [1234567, 'PKR', '12,345.67'], [1234567, 'JPY', '1,234,567'],
  [-1234567, 'KWD', '1,234.567'], [5, 'COP', '0.05'],
]) assert.equal(format.money(minor, currency).replace(/^[^0-9]*/, ''), shown, currency);
assert.match(format.short(123456700, 'HUF'), /1\.2M$/);

const refusal = { code: 'resource_not_found', request_id: 'req_1', errors: [{ pointer: '/a' }] };
for (const body of [{ ...refusal, detail: 'there is no such run' }, { error: { ...refusal, message: 'there is no such run' } }]) {
  const { message, code, requestId, errors } = new api.Problem(404, body);
  assert.deepEqual([message, code, requestId, errors.length], ['there is no such run', 'resource_not_found', 'req_1', 1]);
}
const unserved = new api.Problem(404, { error: { code: 'route_not_found', message: 'there is no route' } });
assert.match(unserved.message, /contract/);

const sent = [];
globalThis.fetch = async (_, { headers }) => { sent.push(headers); return new Response('{"data":{}}', { headers: { 'Content-Type': 'application/json' } }); };
const run = async (path = '/v1/payroll/run') => { await api.post(path); return sent.at(-1); };
const keys = [await run(), await run()].map((headers) => headers['Idempotency-Key']);
assert.match(keys[0], /^[0-9a-f]{32}$/);
assert.notEqual(keys[0], keys[1]);
assert.equal((await run('/_sandbox/reset'))['Idempotency-Key'], undefined);
await api.get('/v1/payroll/run');
assert.equal(sent.at(-1)['Idempotency-Key'], undefined);
api.setKeyHeader('X-Key');
assert.match((await run())['X-Key'], /^[0-9a-f]{32}$/);
api.setKeyHeader(null);
assert.deepEqual(Object.keys(await run()).filter((name) => /key/i.test(name)), []);
