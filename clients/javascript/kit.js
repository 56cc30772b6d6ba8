// The test kit: starts the program, gives each test a world of its own, and controls that world.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';

import { Client, Problem, verifyWebhook } from './client.js';
import { program } from './program.js';

/** The end of a key, with a hash of the name that it cannot show as a whole. */
const hashed = (key, name) => `${key.slice(-231)}~${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;

/** A running sandbox. It ends with this process, even if the process is killed. */
export class Sandbox {
  static #shared;
  #names = new Map();

  /** The server that all tests of this process share. */
  static shared(options) {
    return (Sandbox.#shared ??= Sandbox.start(options));
  }

  static async start({ binary = program() ?? 'sandbox', seed = 42, clock = 'manual', args = [] } = {}) {
    const flags = ['--port', '0', '--quiet', '--exit-with-stdin', '--seed', String(seed), '--clock', clock, ...args];
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'PORT' && !name.startsWith('SANDBOX_')));
    const child = spawn(binary, flags, { stdio: ['pipe', 'pipe', 'inherit'], env });
    const ended = new Promise((resolve, reject) => child.once('exit', resolve).once('error', (lost) => {
      reject(new Error(`${binary} does not start: ${lost.message}; SANDBOX_BIN names another program`, { cause: lost }));
    }));
    const line = await Promise.race([
      new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve)),
      ended.then((code) => { throw new Error(`${binary} does not serve: it ended with ${code ?? child.signalCode}; SANDBOX_BIN names another program`); }),
    ]);
    if (!line.startsWith('listening on ')) {
      child.kill('SIGKILL');
      throw new Error(`${binary} does not serve: ${line}; SANDBOX_BIN names another program`);
    }
    for (const handle of [child, child.stdin, child.stdout]) handle.unref();
    return new Sandbox(line.replace('listening on ', '').trim(), child, ended);
  }

  constructor(url, child, ended) {
    Object.assign(this, { url, child, ended });
  }

  /** A world of its own, in its first state. The name of the test selects it; a repeated name has a number. */
  async world(name) {
    // A key with `_live_` would be refused as a live one.
    const usable = name.replace(/[^!-~]+/g, '-').replace(/(^|[_-])live/gi, '$&.');
    // A `-` replaces one space, and `~` begins what is added. A name that has them could get the key of another name.
    const isWhole = usable.length <= 240 && !/[^ -,.-}]|  /.test(name);
    const place = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, place);
    const world = new World(this, `test_${isWhole ? usable : hashed(usable, name)}${place > 1 ? `~${place}` : ''}`);
    await world.control('DELETE', '/world'); // a reset keeps the scenario, seed and endpoints of a world in a journal
    return world;
  }

  /** How the program has ended, such as `exit code 0`; undefined while it runs. */
  async ending() {
    let timer;
    const moment = new Promise((resolve) => { timer = setTimeout(resolve, 1_000); }); // its connections end before it does
    await Promise.race([this.ended, moment]);
    clearTimeout(timer);
    const { exitCode, signalCode } = this.child;
    if (signalCode !== null) return `signal ${constants.signals[signalCode]}`;
    return exitCode === null ? undefined : `exit code ${exitCode}`;
  }

  /** Ends the server and returns its exit code. */
  stop() {
    this.child.ref();
    this.child.stdin.end();
    return this.ended;
  }
}

export class World {
  #receivers = [];
  #forks = [];
  #forkCount = 0;
  #misses = [];

  constructor(sandbox, key) {
    Object.assign(this, { sandbox, key, client: new Client({ baseUrl: sandbox.url, apiKey: key }) });
    // Never repeated: the control plane has no idempotency keys.
    this.tools = new Client({ baseUrl: sandbox.url, apiKey: key, retries: 0, timeoutMs: 120_000 });
  }

  /** Calls a route below `/_sandbox`. Returns the body: `data`, and `meta` of lists. */
  async control(method, path, body, query) {
    try {
      return (await this.tools.request(method, `/_sandbox${path}`, { body, query })).body;
    } catch (lost) {
      const ending = lost.status === 0 ? await this.sandbox.ending() : undefined;
      if (ending === undefined) throw lost;
      throw new Problem(0, { ...lost.body, detail: `${lost.detail}; the sandbox has ended with ${ending}` }, 0, { cause: lost });
    }
  }

  async #data(path, body) {
    return (await this.control('POST', path, body)).data;
  }

  /** Advances the clock: `advance('10d')`, `advance({ to })`, `advance({ until: 'idle' })`. */
  advance(by) {
    return this.#data('/clock/advance', typeof by === 'string' ? { by } : by);
  }

  /** Starts the world again with a scenario. */
  scenario(name) {
    return this.#data(`/scenarios/${name}/load`);
  }

  fault(row) {
    return this.#data('/faults', row);
  }

  rule(row) {
    return this.#data('/rules', row);
  }

  async events(query) {
    return (await this.control('GET', '/events', undefined, { per_page: 100, ...query })).data;
  }

  async deliveries(query) {
    return (await this.control('GET', '/deliveries', undefined, { per_page: 100, ...query })).data;
  }

  /** Verifies calls (`operation`), events (`type`) or deliveries (`event_type`); throws unless the verdict is `pass`. */
  async verify(row) {
    const list = row.operation ? 'requests' : row.event_type ? 'deliveries' : 'events';
    const verdict = await this.#data(`/${list}/verify`, row);
    if (verdict.verdict === 'pass') return verdict;
    const miss = `${list} ${JSON.stringify(row)}: ${verdict.verdict}, matched ${verdict.matched}, nearest ${JSON.stringify(verdict.nearest)}`;
    this.#misses.push(miss);
    throw new Error(miss);
  }

  async snapshot() {
    return (await this.#data('/snapshots', {})).id;
  }

  restore(id) {
    return this.#data(`/snapshots/${id}/restore`);
  }

  /** Another world with a copy of this one, which closes with it. */
  async fork() {
    const key = `${this.key}~fork${(this.#forkCount += 1)}`;
    const copy = new World(this.sandbox, key.length > 255 ? hashed(key, key) : key); // no key may be longer
    await this.control('POST', `/snapshots/${await this.snapshot()}/fork`, { key: copy.key });
    this.#forks.push(copy);
    return copy;
  }

  /** A local receiver of the webhooks of these types, by default of all. */
  async receiver(...events) {
    const receiver = await new Receiver().listen();
    this.#receivers.push(receiver);
    const { url, secret } = receiver;
    await this.control('POST', '/webhook-endpoints', { url, secret, ...(events.length && { events }) });
    return receiver;
  }

  /** What happened in this world: the last events, decisions and refused calls, and the near misses of `verify`. */
  async report() {
    const last = async (path) => {
      const { meta } = await this.control('GET', path, undefined, { per_page: 1 });
      return (await this.control('GET', path, undefined, { per_page: 30, page: Math.ceil(meta.total / 30) || 1 })).data;
    };
    const events = (await this.events({ per_page: 30, sort: '-sequence' })).reverse();
    const [decisions, requests] = await Promise.all(['/decisions', '/requests'].map(last));
    const section = (title, rows) => `\n${title}:${rows.length ? rows.map((row) => `\n  ${row}`).join('') : ' none'}`;
    return `\n\nworld ${this.key} of ${this.sandbox.url}`
      + section('last events', events.map((one) => `${one.timestamp} ${one.type} ${one.data.object.id ?? ''}`))
      + section('last decisions', decisions.map((one) => `${one.at} ${one.decision}=${one.chosen} by ${one.source ?? one.why} ${one.subject_id}`))
      + section('refused calls', requests.filter((one) => one.status >= 400).map((one) => `${one.method} ${one.path} ${one.status} ${one.error}`))
      + section('near misses', this.#misses);
  }

  async close() {
    await Promise.all([...this.#receivers, ...this.#forks].map((one) => one.close()));
  }
}

/** A local receiver. It checks every signature and refuses a delivery that is not signed with its secret. */
export class Receiver {
  secret = `whsec_${randomBytes(24).toString('base64')}`;
  events = [];
  refused = [];
  /** The status of its answers. */
  status = 204;
  #waiting = new Set();
  #server = createServer(async (request, reply) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      this.events.push(verifyWebhook(this.secret, request.headers, Buffer.concat(chunks)));
      reply.writeHead(this.status).end();
    } catch (error) {
      this.refused.push(error);
      reply.writeHead(400).end();
    }
    for (const look of this.#waiting) look();
  });

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#server.unref(); // a test that reached its time limit closes nothing, and the process must end
    this.url = `http://127.0.0.1:${this.#server.address().port}/`;
    return this;
  }

  /** The first event of this type, and of this condition, that arrived or arrives in time. */
  waitFor(type, { timeoutMs = 10_000, where = () => true } = {}) {
    return new Promise((resolve, reject) => {
      let timer;
      const look = () => {
        const found = this.events.find((event) => event.type === type && where(event));
        if (!found) return this.#waiting.add(look);
        clearTimeout(timer);
        this.#waiting.delete(look);
        return resolve(found);
      };
      timer = setTimeout(() => {
        this.#waiting.delete(look);
        const types = [...new Set(this.events.map((event) => event.type))].join(', ') || 'nothing';
        reject(new Error(`${type} did not arrive in ${timeoutMs} ms; received: ${types}; refused: ${this.refused.length}`));
      }, timeoutMs);
      look();
    });
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

/**
 * Wraps the `test` of node:test, vitest or jest: `const it = withWorld(test)`. Each test gets a world of its own. A test
 * that fails also prints what happened in its world. Options and time limits of a test go on to `test`. `it.only`, `it.skip` and
 * `it.todo` wrap those of `test`.
 */
export function withWorld(test, options) {
  const inWorld = (name, body) => async (...context) => {
    const world = await (await Sandbox.shared(options)).world(name);
    try {
      return await body(world, ...context);
    } catch (error) {
      const report = await world.report().catch((lost) => `\n\nno report of the world: ${lost.message}`);
      if (error instanceof Error) {
        error.message += report;
        error.stack += report;
      }
      throw error;
    } finally {
      await world.close();
    }
  };
  const wrap = (run) => (name, ...rest) => run(name, ...rest.map((one) => (typeof one === 'function' ? inWorld(name, one) : one)));
  const wrapped = wrap(test);
  for (const kind of ['only', 'skip', 'todo']) if (test[kind]) wrapped[kind] = wrap(test[kind].bind(test));
  return wrapped;
}
