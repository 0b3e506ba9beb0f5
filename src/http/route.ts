// A route: method, path, and a function from request to reply. Types, and JSON replies.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, ClientCertificate } from '../auth/caller.ts';
import type { ApprovalOrigin } from '../model/approvals.ts';
import type { Operation } from './openapi/operation.ts';

export interface RouteRequest {
  readonly headers: IncomingHttpHeaders;
  /** Returns the caller's certificate, or null if there is none or it is not valid, or no longer valid. */
  readonly certificate: () => ClientCertificate | null;
  /** The caller's IP address; empty where the connection is gone. */
  readonly address: string;
  /** What stands in the path in the place of `:NAME`, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The whole body; null as soon as it is longer than `limitBytes`. Rejects when the caller goes away. */
  readonly body: (limitBytes: number) => Promise<Uint8Array | null>;
  /**
   * Runs what reads the store at length: one piece of work at a time for a listener, by the networks of the callers in turn. Until its turn
   * a request holds nothing, and its connection may be closed to make room for others. The signal aborts when the caller goes away.
   * Rejects with the signal's reason if the caller goes away before the turn.
   */
  readonly inTurn: <T>(work: (signal: AbortSignal) => T | Promise<T>) => Promise<T>;
}

/** An answer without an end of its own. */
export interface AnswerStream {
  /** False: its socket has not taken all yet. */
  write(bytes: Uint8Array | string): boolean;
  /** What its socket has not taken. */
  readonly unsentBytes: number;
  /** `run` is called whenever all was taken, after a `write` that gave false. */
  onDrain(run: () => void): void;
  onClose(run: () => void): void;
  /** Once what was written is taken. */
  end(): void;
  /** At once, with all that was not taken. */
  drop(): void;
}

export interface StreamedBody {
  /** Asked in the same turn, before anything is sent: what is answered instead; null for the stream. */
  readonly refusal: () => Reply | null;
  readonly begin: (answer: AnswerStream) => void;
}

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null only where the status allows none: then there is no length either. */
  readonly body: string | Uint8Array | null;
  /** In place of a body; the connection ends with it. */
  readonly stream?: StreamedBody;
}

/** `GET` answers HEAD too. */
export const METHODS = ['GET', 'POST', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export interface Route {
  readonly method: Method;
  /** `:NAME` takes one segment that is not empty. */
  readonly path: string;
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
  /** False: as if there were no such route. Absent: it is always there. */
  readonly isOn?: () => boolean;
}

/** A route that the OpenAPI document describes. */
export type ApiRoute = OpenRoute | ReaderRoute | NamedRoute | ApproverRoute;

interface DescribedRoute<Callers, Request> {
  readonly method: Method;
  readonly path: string;
  /** Who may call: others get a problem before `handle` is called. */
  readonly callers: Callers;
  /** With a `requestBody`, the route is handed the body's JSON. */
  readonly operation: Operation;
  readonly handle: (request: Request) => Reply | Promise<Reply>;
}

export type OpenRoute = DescribedRoute<'anyone', RouteRequest>;

type ReaderRoute = DescribedRoute<'readers', RouteRequest>;

/** For readers. A proof is judged even if reading needs none; null: the caller showed none. */
type NamedRoute = DescribedRoute<'named', RouteRequest & { readonly caller: Caller | null }>;

export type ApproverRoute = DescribedRoute<'approvers' | 'admins', ApproverRequest>;

/** A request of an approver, who may call this route at the moment when it is handed over. */
export interface ApproverRequest extends RouteRequest {
  readonly origin: ApprovalOrigin;
  /** The JSON of the body, or the data of the CloudEvent in it; undefined if the operation has no `requestBody`. */
  readonly value: unknown;
  /** Judges the caller again, after a wait in which its right may have been revoked. */
  readonly readmit: () => Promise<ApprovalOrigin | Refused>;
}

export type Refused = { readonly reply: Reply };

export function json(status: number, value: object | readonly object[]): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** 204: done, and nothing to say. */
export const NO_CONTENT: Reply = { status: 204, headers: {}, body: null };
