// Requests and answers without sockets: their types, and functions that read and create them.
import type { Fault } from '../schema/faults.ts';

export interface SimRequest {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly url: string;
  /** Names in any letter case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export interface SimAnswer {
  readonly status: number;
  /** Names in lower case, without `content-length`, which the listener derives from the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Delays the answer, in milliseconds of real time. */
  readonly delayMs?: number;
  /** The earliest simulated time of the answer, in milliseconds since 1970. */
  readonly notBeforeMs?: number;
  /** Resets the connection instead of answering. */
  readonly reset?: boolean;
  /** Closes the connection after this many bytes of the body, although `content-length` announces all of it. */
  readonly truncate?: number;
}

/** Why the simulator itself, not the simulated service, rejects a request. */
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

export function answerJson(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  return jsonBytes(status, toJsonBytes(value), headers);
}

/** An answer with a body that is JSON already. */
export function jsonBytes(status: number, body: Uint8Array, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** `application/problem+json` (RFC 9457), with a member `faults` if the request's body is invalid. */
export function answerProblem(refusal: ControlRefusal, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  const { status, detail, faults } = refusal;
  const value = { type: 'about:blank', title: TITLES[status], status, detail, ...(faults ? { faults } : {}) };
  return answerJson(status, value, { 'content-type': 'application/problem+json', ...headers });
}

/** A JSON object with the white space of the service's error answers: `{ "error": "…" }`. */
export function spacedJson(status: number, value: object, headers: Readonly<Record<string, string>> = {}): SimAnswer {
  return jsonBytes(status, Buffer.from(JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')), headers);
}

export function toJsonBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Returns the value of a JSON text in UTF-8, or undefined if the bytes are not JSON. */
export function fromJsonBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Splits a URL at its first question mark. @param url as in the request line */
export function pathAndQuery(url: string): readonly [path: string, query: string] {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  return [path, query];
}
