// Requests and answers without sockets: types, and ways to read and make them.
import type { Fault } from '../schema/faults.ts';

export interface SimRequest {
  readonly method: string;
  /** Path and query, as on the request line. */
  readonly url: string;
  /** Names in any letter case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export interface SimAnswer {
  readonly status: number;
  /** Names in lower case; without `content-length`, which follows from the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Answer only after so many milliseconds of real time. */
  readonly delayMs?: number;
  /** Answer only at this moment of simulated time. */
  readonly notBeforeMs?: number;
  /** No answer at all: the connection is reset. */
  readonly reset?: boolean;
  /** The connection ends after so many bytes of the body, though the whole was announced. */
  readonly truncate?: number;
}

/** Why a request is refused, where it is the simulator and not the simulated service that refuses it. */
export interface ControlRefusal {
  readonly status: 400 | 403 | 404 | 405 | 409 | 413 | 421;
  readonly detail: string;
  readonly faults?: readonly Fault[];
}

const TITLES: Readonly<Record<ControlRefusal['status'], string>> = {
  400: 'Bad request',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Impossible now',
  413: 'Too large',
  421: 'Misdirected request',
};

export function empty(status: number, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  return { status, headers, body: new Uint8Array() };
}

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  return jsonBytes(status, toJsonBytes(value), headers);
}

/** JSON that is written already. */
export function jsonBytes(status: number, body: Uint8Array, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** `application/problem+json` (RFC 9457) with a member `faults` where a body was at fault. */
export function problem(refusal: ControlRefusal, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  const { status, detail, faults } = refusal;
  const value = { type: 'about:blank', title: TITLES[status], status, detail, ...(faults ? { faults } : {}) };
  return json(status, value, { 'content-type': 'application/problem+json', ...headers });
}

/** A JSON object with the white space of the service's refusals: `{ "error": "…" }`. */
export function spacedJson(status: number, value: object, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  return jsonBytes(status, Buffer.from(JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')), headers);
}

export function toJsonBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** The value of a JSON text in UTF-8; undefined where it is none. */
export function fromJsonBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** The two sides of the first question mark. @param url as on the request line */
export function pathAndQuery(url: string): readonly [path: string, query: string] {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  return [path, query];
}
