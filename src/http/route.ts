// A route: method, path, and a function from request to reply. Types, and JSON replies.
import type { IncomingHttpHeaders } from 'node:http';
import type { ClientCertificate } from '../auth/caller.ts';

export interface RouteRequest {
  readonly headers: IncomingHttpHeaders;
  /** Null where the caller showed none, or one that counts as none. */
  readonly certificate: ClientCertificate | null;
  /** The caller's IP address; empty where the connection is gone. */
  readonly address: string;
  /** What stands in the path in the place of `:NAME`, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The whole body; null as soon as it is longer than `limitBytes`. Rejects when the caller goes away. */
  readonly body: (limitBytes: number) => Promise<Uint8Array | null>;
}

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null only where the status allows none: then there is no length either. */
  readonly body: string | Uint8Array | null;
}

/** `GET` answers HEAD too. */
export const METHODS = ['GET', 'POST', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export interface Route {
  readonly method: Method;
  /** `:NAME` takes one segment that is not empty. */
  readonly path: string;
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
}

export function json(status: number, value: object): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** 204: done, and nothing to say. */
export const NO_CONTENT: Reply = { status: 204, headers: {}, body: null };
