// A route: method, path, a function from request to reply. Types; replies in JSON, problems.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, ClientCertificate } from '../auth/caller.ts';
import type { ApprovalOrigin } from '../model/approvals.ts';
import { PROBLEMS, type ProblemType } from '../model/problems.ts';
import type { Fault } from '../schema/faults.ts';
import type { ApiOperation } from './openapi/operation.ts';

export interface RouteRequest {
  readonly headers: IncomingHttpHeaders;
  /** Returns the caller's certificate, or null if there is none or it is not valid, or no longer valid. */
  readonly certificate: () => ClientCertificate | null;
  /** The caller's IP address; empty if the connection is closed. */
  readonly address: string;
  /** The values of the path's `:NAME` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /**
   * Resolves with the whole body, or null if it is longer than `limitBytes`. Rejects if the caller closes the
   * connection.
   */
  readonly body: (limitBytes: number) => Promise<Uint8Array | null>;
  /**
   * Runs work that reads the store at length: one piece at a time for a listener, by the networks of the callers in
   * turn. Until its turn a request holds nothing, and its connection may be closed to make room for others. The signal
   * aborts if the caller closes the connection. Rejects with the signal's reason if that happens before the turn.
   */
  readonly inTurn: <T>(work: (signal: AbortSignal) => T | Promise<T>) => Promise<T>;
}

/** An answer that does not end by itself. */
export interface AnswerStream {
  /** Returns false if the socket has not taken all bytes yet. */
  write(bytes: Uint8Array | string): boolean;
  readonly unsentBytes: number;
  /** Calls `run` each time the socket has taken all bytes, after a `write` that returned false. */
  onDrain(run: () => void): void;
  onClose(run: () => void): void;
  /** Ends the answer when the socket has taken all bytes. */
  end(): void;
  /** Closes the connection at once. Bytes that the socket has not taken are lost. */
  drop(): void;
}

export interface StreamedBody {
  /** Called in the same turn, before anything is sent. Returns another answer, or null to begin the stream. */
  readonly refusal: () => Reply | null;
  readonly begin: (answer: AnswerStream) => void;
}

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null only if the status allows no body: then there is no length either. */
  readonly body: string | Uint8Array | null;
  /** Sent instead of a body. The connection ends with it. */
  readonly stream?: StreamedBody;
}

/** A route for GET answers HEAD, too. */
export const METHODS = ['GET', 'POST', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export interface Route {
  readonly method: Method;
  /** `:NAME` matches one segment that is not empty. */
  readonly path: string;
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
  /** False: the answer is 404. Absent: the route is always on. */
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
  readonly operation: ApiOperation;
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

export const NO_CONTENT: Reply = { status: 204, headers: {}, body: null };

export interface Problem {
  /** A relative reference such as `changed`, which callers compare. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** What failed and what to do. */
  readonly detail: string;
  /** The EventId that caused the problem, as the caller wrote it. */
  readonly eventId?: string;
  /** The faults of the configuration, each with its path. */
  readonly faults?: readonly Fault[];
  /** The keys of the configuration that a running bridge cannot change. */
  readonly restart?: readonly string[];
}

export function problemReply(problem: Problem, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status: problem.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify(problem),
  };
}

/** A problem that the HTTP interface itself finds. */
export function problem(
  type: ProblemType,
  detail: string,
  headers?: Readonly<Record<string, string>>,
  more?: Pick<Problem, 'faults' | 'restart'>,
): Reply {
  return problemReply({ type, ...PROBLEMS[type], detail, ...more }, headers);
}
