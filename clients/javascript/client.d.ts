/** One violation of a refused request. */
export interface Violation {
  pointer: string;
  code: string;
  detail: string;
}

/** A refusal of the API (RFC 9457). `status` is 0 if no readable reply arrived. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title?: string;
  /** The title, or the text of the reply, if the refusal has no `detail`. */
  readonly detail?: string;
  readonly errors: Violation[];
  readonly requestId?: string;
  readonly retryable: boolean;
  /** Seconds, from the header `Retry-After`; 0 without it. */
  readonly retryAfter: number;
  /** All members of the refusal. */
  readonly body: Record<string, unknown>;
}

type Value = string | number | boolean | Date | null | undefined;
/** A list repeats the name. */
export type Query = Record<string, Value | Value[]>;

export interface Options {
  query?: Query;
  headers?: Record<string, string>;
  /** Of a POST. The default is a new one for each call; every retry sends the same. */
  idempotencyKey?: string;
}

export interface Reply<T> {
  status: number;
  headers: Headers;
  /** Parsed JSON, or a `Buffer` of any other content. */
  body: T;
}

export interface Page<T> {
  data: T[];
  meta: { total: number; page: number };
}

export interface ClientOptions {
  /** `http://127.0.0.1:4747` by default. */
  baseUrl?: string;
  /** The API key; in the sandbox it selects the world. */
  apiKey?: string;
  /** Retries after the first attempt: 3 by default. */
  retries?: number;
  /** For each attempt: 30,000 by default. */
  timeoutMs?: number;
  /** Headers of every request. */
  headers?: Record<string, string>;
}

export class Client {
  constructor(options?: ClientOptions);
  readonly baseUrl: string;
  readonly apiKey: string;
  get<T = any>(path: string, query?: Query, options?: Options): Promise<Reply<T>>;
  post<T = any>(path: string, body?: unknown, options?: Options): Promise<Reply<T>>;
  request<T = any>(method: string, path: string, options?: Options & { body?: unknown }): Promise<Reply<T>>;
  pdf(path: string, query?: Query): Promise<Buffer>;
  paginate<T = any>(path: string, query?: Query): AsyncGenerator<T, void>;
}

export class WebhookError extends Error {}

export function verifyWebhook<T = any>(
  secrets: string | string[],
  headers: Headers | Record<string, string | string[] | undefined>,
  body: Uint8Array | string,
  options?: { toleranceSeconds?: number; now?: number },
): T;
