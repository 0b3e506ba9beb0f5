// What a route is: method and path, and a function from a request to a reply. Types, and replies in JSON.
import type { IncomingHttpHeaders } from 'node:http';

export interface RouteRequest {
  readonly headers: IncomingHttpHeaders;
  /** The caller's IP address; empty where the connection is gone. */
  readonly address: string;
  /** The whole body; null as soon as it is longer than `limitBytes`. Rejects when the caller goes away. */
  readonly body: (limitBytes: number) => Promise<Uint8Array | null>;
}

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Route {
  /** `GET` answers HEAD too. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
}

export function json(status: number, value: object): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
