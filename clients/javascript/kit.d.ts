import { Client, Query } from './client.js';

export interface SandboxOptions {
  /** The program; by default `$SANDBOX_BIN`, that of the installed npm package, or `sandbox` of the `PATH`. */
  binary?: string;
  seed?: number;
  /** `manual` by default: the time moves when you call `advance`. */
  clock?: 'instant' | 'manual' | 'real' | `real:${number}`;
  /** Further flags of the program. */
  args?: string[];
}

export class Sandbox {
  static start(options?: SandboxOptions): Promise<Sandbox>;
  static shared(options?: SandboxOptions): Promise<Sandbox>;
  readonly url: string;
  world(name: string): Promise<World>;
  /** How the program has ended, such as `exit code 0`; undefined while it runs. */
  ending(): Promise<string | undefined>;
  stop(): Promise<number | null>;
}

export interface Event {
  id: string;
  type: string;
  timestamp: string;
  sequence: number;
  company_id: string;
  data: { object: any; previous?: any };
  [member: string]: unknown;
}

export type Times = number | { at_least?: number; at_most?: number };

export class World {
  readonly key: string;
  /** The client of this world, for the code under test. */
  readonly client: Client;
  control(method: string, path: string, body?: unknown, query?: Query): Promise<any>;
  advance(by: string | { by?: string; to?: string; until?: string; events_limit?: number }): Promise<any>;
  scenario(name: string): Promise<any>;
  fault(row: Record<string, unknown>): Promise<any>;
  rule(row: Record<string, unknown>): Promise<any>;
  events(query?: Query): Promise<Event[]>;
  deliveries(query?: Query): Promise<any[]>;
  verify(row: { operation?: string; type?: string; event_type?: string; match?: unknown; times?: Times; in_order?: string[] }): Promise<any>;
  snapshot(): Promise<string>;
  restore(id: string): Promise<any>;
  fork(): Promise<World>;
  receiver(...events: string[]): Promise<Receiver>;
  report(): Promise<string>;
  close(): Promise<void>;
}

export class Receiver {
  readonly url: string;
  readonly secret: string;
  readonly events: Event[];
  readonly refused: Error[];
  status: number;
  waitFor(type: string, options?: { timeoutMs?: number; where?: (event: Event) => boolean }): Promise<Event>;
  close(): Promise<unknown>;
}

export type Body<C extends unknown[]> = (world: World, ...context: C) => Promise<void> | void;

/** A test with a world. `only`, `skip` and `todo` exist if `test` has them. */
export interface WorldTest<C extends unknown[], R> {
  (name: string, body: Body<C>): R;
  (name: string, options: object, body: Body<C>): R;
  (name: string, body: Body<C>, timeoutMs: number): R;
  only: WorldTest<C, R>;
  skip: WorldTest<C, R>;
  todo: WorldTest<C, R> & ((name: string) => R);
}

/** Gives each test of `node:test`, vitest or jest a world of its own. Options and time limits of a test go on. */
export function withWorld<C extends unknown[], R>(
  test: (name: string, body: (...context: C) => Promise<void>) => R,
  options?: SandboxOptions,
): WorldTest<C, R>;
