// A thin client: it implements the conventions of the API, and no single operation. It has no dependencies.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

/** A refusal of the API (RFC 9457), or a reply that cannot be read (`status` 0). */
export class Problem extends Error {
  constructor(status, body, retryAfter, { cause, text } = {}) {
    const member = (name) => (typeof body[name] === 'string' ? body[name] : undefined);
    const [code, title, requestId] = [member('code') ?? 'unknown', member('title'), member('request_id')];
    const detail = member('detail') ?? title ?? (text || undefined);
    const errors = Array.isArray(body.errors) ? body.errors.filter(isObject) : []; // a proxy can send anything
    const places = errors.map((error) => `\n  ${error.pointer}: ${error.detail}`).join('');
    super(`${status} ${code}: ${detail ?? 'no detail'}${places}`, { cause });
    Object.assign(this, { name: 'Problem', status, code, title, detail, errors, requestId, body, retryAfter });
    this.isExplicit = typeof body.retryable === 'boolean'; // whether the API itself says if it is retryable
    this.retryable = this.isExplicit ? body.retryable : [0, 408, 429, 502, 503, 504].includes(status);
  }
}

export class Client {
  constructor({ baseUrl = 'http://127.0.0.1:4747', apiKey = 'test_key', retries = 3, timeoutMs = 30_000, headers = {} } = {}) {
    Object.assign(this, { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, retries, timeoutMs, headers });
  }

  get(path, query, options) {
    return this.request('GET', path, { ...options, query });
  }

  post(path, body, options) {
    return this.request('POST', path, { ...options, body });
  }

  /** The bytes of a PDF. */
  async pdf(path, query) {
    return (await this.request('GET', path, { query, headers: { accept: 'application/pdf' } })).body;
  }

  /** The items of a list, one page at a time. */
  async *paginate(path, query = {}) {
    for (let page = Number(query.page ?? 1), seen = 0; ; page += 1) {
      const { data, meta } = (await this.get(path, { ...query, page })).body;
      if (!Array.isArray(data)) throw new Problem(0, { code: 'invalid_reply', detail: `GET ${path}: the reply is not a list`, retryable: false }, 0);
      yield* data;
      seen += data.length;
      if (data.length === 0 || (query.page === undefined && seen >= meta?.total)) return;
    }
  }

  /** Sends a request. A POST has an `Idempotency-Key`, which is the same in every retry. */
  async request(verb, path, { query = {}, body, headers = {}, idempotencyKey } = {}) {
    const method = verb.toUpperCase();
    const parameters = new URLSearchParams();
    // A list repeats the name; null is left out.
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value].flat()) if (one != null) parameters.append(name, one instanceof Date ? one.toISOString() : one);
    }
    const separator = path.includes('?') ? '&' : '?';
    const url = new URL(this.baseUrl + target(path) + (`${parameters}` && `${separator}${parameters}`));
    const sent = new Headers({ authorization: `Bearer ${this.apiKey}`, accept: 'application/json' });
    const content = body == null ? undefined : JSON.stringify(body, finite);
    if (content !== undefined) sent.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(this.headers)) sent.set(name, value);
    if (method === 'POST') sent.set('idempotency-key', idempotencyKey ?? '');
    for (const [name, value] of Object.entries(headers)) sent.set(name, value);
    if (method === 'POST' && !sent.get('idempotency-key')) sent.set('idempotency-key', randomUUID());
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#exchange(method, url, sent, content);
      } catch (problem) {
        // A PATCH has no idempotency key: without an answer of the API, the client cannot know whether it took effect.
        const unsafe = method === 'PATCH' && !problem.isExplicit;
        if (!problem.retryable || unsafe || attempt >= this.retries || problem.retryAfter > 60) throw problem;
        const backoff = Math.min(100 * 2 ** attempt, 2_000) * (0.5 + Math.random() / 2);
        await new Promise((resume) => setTimeout(resume, problem.retryAfter * 1_000 || backoff));
      }
    }
  }

  async #exchange(method, url, headers, body) {
    let reply, bytes;
    try {
      const signal = AbortSignal.timeout(this.timeoutMs);
      reply = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
      bytes = Buffer.from(await reply.arrayBuffer());
    } catch (cause) {
      throw new Problem(0, { code: 'no_reply', detail: `${method} ${url.pathname}: ${cause.cause?.message ?? cause.message}` }, 0, { cause });
    }
    const { status } = reply;
    const hasContent = method !== 'HEAD' && status !== 204 && status !== 304;
    const isJson = hasContent && /^[^;]*[/+]json\s*(;|$)/i.test(reply.headers.get('content-type') ?? '');
    const parsed = isJson ? parse(bytes) : bytes;
    if (status >= 300 && status < 400 && status !== 304) {
      throw new Problem(status, { code: 'redirect', detail: `${method} ${url.pathname}: the reply redirects to ${reply.headers.get('location') ?? ''}` }, 0);
    }
    if (status < 400 && parsed !== undefined) return { status, headers: reply.headers, body: parsed };
    if (status < 400) throw new Problem(0, { code: 'invalid_reply', detail: `${method} ${url.pathname}: the body is not JSON` }, 0);
    const text = bytes.toString();
    const problem = [parsed?.error, parsed].find(isObject) ?? { detail: text };
    throw new Problem(status, problem, seconds(reply.headers.get('retry-after') ?? ''), { text });
  }
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
}

/** The path and its query, with everything encoded that a URL does not have. What is encoded stays. */
function target(path) {
  const encoded = path.replace(/%(?![0-9a-f]{2})/gi, '%25').replace(/[^\w.~!$&()*+,/:;=?@%-]/gu, (one) => (one === "'" ? '%27' : encodeURIComponent(one)));
  return encoded.startsWith('/') ? encoded : `/${encoded}`;
}

/** JSON would write NaN and Infinity as null. */
function finite(name, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} of the body is ${value}, which JSON does not have`);
  return value;
}

/** The seconds of a `Retry-After`, which is a number or a date. */
function seconds(retryAfter) {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const isDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(retryAfter); // Date.parse reads more than dates
  return isDate ? Math.max(0, (Date.parse(retryAfter) - Date.now()) / 1_000) || 0 : 0;
}

function parse(bytes) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** A delivery whose signature, time or body is wrong. */
export class WebhookError extends Error {}

/**
 * Checks a delivery by Standard Webhooks and returns its event. `body` is the bytes as received. `secrets` is one secret,
 * or several while a secret is replaced.
 */
export function verifyWebhook(secrets, headers, body, { toleranceSeconds = 300, now = Date.now() / 1_000 } = {}) {
  const header = (name) => String((typeof headers.get === 'function' ? headers.get(name) : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1]) ?? '');
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
  if (!id) throw new WebhookError('webhook-id is missing');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('webhook-timestamp is missing or no number');
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds) throw new WebhookError('webhook-timestamp is too old or in the future');
  const bytes = Buffer.from(body);
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes]);
  const given = header('webhook-signature').split(/\s+/).map((one) => Buffer.from(one));
  const isRight = [secrets].flat().some((secret) => {
    const text = secret.replace(/^whsec_/, '');
    const key = Buffer.from(text, 'base64'); // skips what is not base64
    if (key.length === 0 || key.toString('base64') !== text) throw new WebhookError('the secret is empty or not base64'); // with an empty key, anyone could sign
    const wanted = Buffer.from(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  });
  if (!isRight) throw new WebhookError('webhook-signature is wrong');
  const event = parse(bytes);
  if (!isObject(event)) throw new WebhookError('the body is no JSON object');
  return event;
}
