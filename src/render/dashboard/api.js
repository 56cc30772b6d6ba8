// Calls to the sandbox. The key stays in this tab (sessionStorage) and goes out only as a header to this origin.
// Reads say that they only observe, so they are in no request log, use up no fault or rule, and change no verification.
const KEY = 'sandbox.key', TOKEN = 'sandbox.admin';
// What comes before every path, if the server has a base path: this file is in its folder `dashboard`.
export const BASE = new URL('..', import.meta.url).pathname.replace(/\/$/, '');
let key = sessionStorage.getItem(KEY) || 'test_key', token = sessionStorage.getItem(TOKEN) || '';

export const getKey = () => key;
export const hasToken = () => !!token;
export function setKey(next) { key = next; sessionStorage.setItem(KEY, next); }
export function setToken(next) { token = next; sessionStorage.setItem(TOKEN, next); }
// The position of the event that the slider shows; none at the present. Reads of the world are answered as of it.
let asOf = null;
export const setAsOf = (sequence) => { asOf = sequence; };
const ofWorld = (path) => /^\/(api|v1)\/|^\/_sandbox\/(ledger|explain|series|decisions)/.test(path);
// The header with the key of a purchase, by its name in the contract; null if the contract switches it off.
let keyHeader = 'Idempotency-Key';
export const getKeyHeader = () => keyHeader;
export const setKeyHeader = (name) => { keyHeader = name; };
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
const isKeyed = (method, path) => keyHeader && method === 'POST' && !path.startsWith('/_sandbox/');
// The server refuses keys that look live; the page does not even send them.
export const looksLive = (text) => /^live[_-]|_live_|-live-/.test(text);

export class Problem extends Error {
  constructor(status, sent, retryAfter) {
    const body = sent?.error?.code ? { ...sent.error, detail: sent.error.message } : sent; // a contract can send envelopes
    super((body?.code === 'route_not_found' && 'The contract that the sandbox serves does not contain this operation.') || body?.detail || body?.title || (status ? `HTTP ${status}` : 'The sandbox does not answer'));
    this.status = status; this.code = body?.code || null; this.requestId = body?.request_id || null;
    this.errors = body?.errors || []; this.retryAfter = Number(retryAfter) || 0;
  }
}

async function send(method, path, body, accept = 'application/json', more = {}) {
  const past = asOf != null && ofWorld(path);
  if (past && method !== 'GET') throw new Problem(400, { detail: 'Return to the present first: actions are possible only there.' });
  let reply;
  try {
    reply = await fetch(BASE + path, {
      method, cache: 'no-store', credentials: 'omit',
      headers: {
        Authorization: `Bearer ${key}`, Accept: accept, ...(token && path.startsWith('/_sandbox') ? { 'Sandbox-Admin-Token': token } : {}),
        ...(method === 'GET' ? { 'Sandbox-Observer': '1' } : {}), ...(past ? { 'Sandbox-As-Of': String(asOf) } : {}), ...(body ? { 'Content-Type': 'application/json' } : {}), ...(isKeyed(method, path) ? { [keyHeader]: newKey() } : {}), ...more.headers,
      },
      body: body ? JSON.stringify(body) : undefined, signal: more.signal,
    });
  } catch { throw new Problem(0); }
  if (reply.status === 502) throw new Problem(0);
  if (!reply.ok) throw new Problem(reply.status, await reply.json().catch(() => null), reply.headers.get('Retry-After'));
  return reply;
}

const query = (q = {}) => {
  const text = new URLSearchParams(Object.entries(q).filter(([, v]) => v != null && v !== '')).toString();
  return text ? `?${text}` : '';
};
// A screen reads the results of control routes without their envelope; lists keep it, because of their `meta`.
const read = async (path, reply) => { const body = await reply.json(); return path.startsWith('/_sandbox/') && !body.meta ? body.data : body; };
export const get = async (path, q, more) => read(path, await send('GET', path + query(q), null, 'application/json', more));
export const post = async (path, body = {}) => read(path, await send('POST', path, body));
export const put = async (path, body = {}) => read(path, await send('PUT', path, body));
export const patch = async (path, body = {}) => (await send('PATCH', path, body)).json();
export const del = async (path) => { const reply = await send('DELETE', path); return reply.status === 204 ? null : read(path, reply); };
export const pdf = async (path) => URL.createObjectURL(await (await send('GET', path, null, 'application/pdf')).blob());
export const stream = (path, q, signal) => send('GET', path + query(q), null, 'text/event-stream', { signal });

// The first rows of a list, at least `most` if there are so many, and how many there are.
export async function all(path, q, most, more) {
  const rows = [], per_page = Math.min(100, most);
  for (let page = 1, total = 1; ; page++) {
    const got = await get(path, { ...q, per_page, page }, more);
    rows.push(...got.data); total = got.meta.total;
    if (got.data.length < per_page || rows.length >= Math.min(most, total)) return { rows, total };
  }
}
// A request by its id, if the log still has it. Reads of an unchanged world can share an id: the latest is returned.
export const logged = async (id) => (await get('/_sandbox/requests', { request_id: id, per_page: 100 })).data.pop() || null;
// Lists without an order of their own: the last page is asked for by its number, and shown newest first.
export async function newest(path, q, most = 100) {
  const { meta } = await get(path, { ...q, per_page: 1 });
  const pages = Math.max(1, Math.ceil(meta.total / 100));
  const first = Math.max(1, pages - Math.ceil(most / 100));
  const got = await Promise.all(Array.from({ length: pages - first + 1 }, (_, nth) => first + nth).map((page) => get(path, { ...q, per_page: 100, page })));
  return { rows: got.flatMap((g) => g.data).reverse().slice(0, most), total: meta.total };
}
