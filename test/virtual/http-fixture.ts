// Fake ports, an HTTP server on loopback → a client that sends what a test of routes says.
import http from 'node:http';
import https from 'node:https';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type {
  AllHeldAnswer,
  ApprovalAnswer,
  HoldAnswer,
  Refusal,
  ReleaseAnswer,
} from '../../src/approvals/requests/answer.ts';
import type { EventRecord } from '../../src/approvals/views/event-record.ts';
import type { Authentication, Caller, Credentials } from '../../src/auth/caller.ts';
import { drillReport } from '../../src/drills/report.ts';
import { bridgeRoutes } from '../../src/http/bridge-routes.ts';
import { Callers, type KnownCallers } from '../../src/http/callers.ts';
import type { EventsView } from '../../src/http/events-route.ts';
import type { DrainState, Readiness } from '../../src/http/health-routes.ts';
import type { ServedDrills } from '../../src/http/operators/drill-routes.ts';
import type { OperatorActions } from '../../src/http/operators/sink-routes.ts';
import type { ReloadPorts } from '../../src/http/reload-route.ts';
import type { ServedApprovals } from '../../src/http/served-approvals.ts';
import { type HttpServerParts, openHttpServer } from '../../src/http/server/server.ts';
import { Streams } from '../../src/http/stream/streams.ts';
import type { Drill } from '../../src/model/drills.ts';
import type { JournalledEntry, Occurrence } from '../../src/model/events.ts';
import type { SinkView } from '../../src/model/operators.ts';
import { systemDeps } from '../../src/time/system.ts';
import { assertConforms } from '../far-sides/openapi-conformance.ts';
import { VirtualTime } from './virtual-time.ts';

export const APPROVER = 'orders-token-0001';
export const READER = 'grafana-token-001';
const CALLERS: Readonly<Record<string, Caller>> = {
  [APPROVER]: { kind: 'approver', name: 'orders', via: 'token' },
  [READER]: { kind: 'reader', name: 'grafana', via: 'token' },
  ...Object.fromEntries(
    Array.from({ length: 5 }, (_, index) => [
      readerToken(index),
      { kind: 'reader', name: `reader-${index}`, via: 'token' } as const,
    ]),
  ),
};

/** The token of one of five more readers. */
export function readerToken(index: number): string {
  return `reader-token-${index}-long`;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body's JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface SendOptions {
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly agent?: http.Agent;
}

/** An event that nobody has approved. */
const LIFE: EventRecord = {
  ...{
    eventId: 'A',
    state: 'none',
    approvedBy: [],
    policy: null,
    at: null,
    waitingFor: [],
    holds: [],
    decidedBy: null,
    deadline: null,
  },
  ...{
    rank: null,
    submitsAt: null,
    submittedAt: null,
    nextStep: { action: null, at: null, by: null },
    heldBackBy: [],
    rule: null,
    notStartedForSeconds: null,
    steps: [],
    next: null,
    unwritten: [],
  },
};

/** A sink to which nothing has happened. */
export const SINK: SinkView = {
  ...{ name: 'hooks', type: 'webhook', state: 'delivering', queued: 0, oldestAt: null },
  ...{ lastAcceptedAt: null, lastError: null, deadLetters: 0 },
  running: [{ eventId: 'A', since: '2026-01-01T00:00:00.000Z', attempt: 1, last: null }],
};

/** A drill that has ended. */
export const DRILL: Drill = {
  ...{
    id: '00000000-0000-4000-8000-000000000001',
    occurrence: 1,
    operator: 'orders',
    madeMs: 0,
    startedMs: 1,
    endedMs: 2,
  },
  ...{ outcome: 'completed', missing: ['billing'] },
  event: {
    ...{ eventId: 'drill-00000000-0000-4000-8000-000000000001', eventStatus: 'Scheduled', eventType: 'Reboot' },
    ...{ resourceType: 'VirtualMachine', resources: ['vm-1'], notBefore: '2026-01-01T00:02:00Z', description: '' },
    ...{ eventSource: 'Platform', durationInSeconds: 30 },
  },
};

/** What `/readyz` tells besides, where nothing is wrong. */
export const DETAILS = { configuration: { since: '2026-01-01T00:00:00Z', refused: null }, sinks: {} };

/** The view of a bridge that has not identified its VM. */
export const NO_EVENTS: EventsView = {
  ...{
    vm: { name: null, source: null },
    version: '0.0.0',
    dryRun: false,
    heldAll: null,
    clock: { offsetSeconds: null },
    certificates: [],
  },
  ...{ state: 'watching', documentIncarnation: null, observedAt: null, events: [] },
};

export class HttpFixture {
  readonly time = new VirtualTime();
  readonly asked: { readonly approver: string; readonly body: unknown }[] = [];
  /** Calls of the other ports, as `name argument…`. */
  readonly told: string[] = [];
  answer: () => Promise<ApprovalAnswer> = async () => ({
    kind: 'results',
    status: 200,
    results: [{ eventId: 'A', state: 'submitted', approvedBy: ['orders'] }],
  });
  held: () => HoldAnswer = () => ({ kind: 'held', status: 201, hold: { eventId: 'A', holds: [] } });
  released: () => ReleaseAnswer = () => ({ kind: 'released' });
  heldAll: () => AllHeldAnswer = () => ({
    kind: 'held',
    status: 201,
    hold: { eventId: '*', holds: [], submitting: [] },
  });
  life: () => EventRecord | Refusal = () => LIFE;
  /** Resolves when no StartRequest for the event is on its way. */
  answered: (eventId: string) => Promise<void> = async () => {};
  /** The AsyncAPI document. */
  asyncApi: object = { asyncapi: '3.1.0', info: {}, servers: {}, channels: {}, operations: {}, components: {} };
  reload: ReloadPorts['reload'] = async () => ({ kind: 'applied', changed: [] });
  /** What the journal keeps; `commit` adds to it. */
  journal: JournalledEntry[] = [];
  /** The newest position that was pruned. */
  pruned = 0;
  /** The events of `GET /v1/events`, for the stream; null: not known yet. */
  listed: readonly Occurrence[] | null = [];
  readonly streams = new Streams({
    journal: {
      listed: () => this.listed,
      notice: ({ key, occurrence }, position) =>
        this.journal.findLast(
          (entry) =>
            entry.key === key &&
            entry.occurrence === occurrence &&
            entry.position <= position &&
            ['scheduled', 'updated', 'started'].includes(entry.change),
        ) ?? null,
      newest: () => this.journal.at(-1)?.position ?? this.pruned,
      pruned: () => this.pruned,
      after: (position, limit) => this.journal.filter((entry) => entry.position > position).slice(0, limit),
    },
    deps: systemDeps(),
    logger: pino({ level: 'silent' }),
  });
  operations: OperatorActions = {
    sinks: () => [SINK],
    pause: async (sink, by) =>
      this.#tell(['pause', sink, by], sink === SINK.name ? { ...SINK, state: 'paused' as const } : null),
    resume: async (sink, by) => this.#tell(['resume', sink, by], sink === SINK.name ? SINK : null),
    deadLetters: () => ({ items: [], next: null }),
    decide: (act, sink, ids, by) => this.#tell([act, sink, ...ids, by], sink === SINK.name ? ids.length : null),
    journal: () => ({ items: [], next: null }),
    running: () => new Map(),
  };
  /** By default one that has ended, by the id of `DRILL`. */
  drills: ServedDrills = {
    begin: (by, { eventType, notice }) => this.#tell(['drill', eventType, notice, by], DRILL),
    cancel: (by, id) => this.#tell(['cancel', id, by], id === DRILL.id ? DRILL : null),
    report: (id) => (id === DRILL.id ? drillReport({ drill: DRILL, changes: [], votes: [], missingNow: [] }) : null),
  };
  /** Who has which token. */
  callers = CALLERS;
  /** Runs while a proof is being judged. */
  judging: () => void = () => {};
  /** The approver who may administer. */
  admin = 'orders';
  configured = true;
  /** Whether it is known which VM this is. */
  isIdentified = true;
  drain: () => DrainState | null = () => null;
  readiness: (isWhole: boolean) => Readiness = () => ({ ready: true, reasons: [], details: DETAILS });
  readonly log: string[] = [];
  port = 0;
  /** Of the server that was started last. */
  close: () => PromiseLike<void> = async () => {};
  readonly #isTls: boolean;
  #isMain = false;

  constructor(isTls = false) {
    this.#isTls = isTls;
  }

  parts(settings: { requireToken?: boolean } = {}): HttpServerParts {
    const approvals = this.#approvals();
    const hasApprovers = () => this.configured;
    const known: KnownCallers = {
      authenticate: (credentials) => this.#authenticate(credentials),
      isAdmin: (approver) => approver === this.admin,
      get hasApprovers() {
        return hasApprovers();
      },
    };
    const callers = new Callers({
      known,
      requireToken: settings.requireToken ?? false,
      host: '127.0.0.1',
      deps: this.time,
    });
    const ports = {
      readiness: (isWhole: boolean) => this.readiness(isWhole),
      drain: () => this.drain(),
      metrics: async () => ({
        contentType: 'text/plain; version=0.0.4',
        body: 'scheduled_events_bridge_polls_total 7\n',
      }),
    };
    const events = () => ({ ...NO_EVENTS, documentIncarnation: 3, observedAt: '2026-01-01T00:00:00Z' });
    const routes = bridgeRoutes(
      {
        ...ports,
        events,
        approvals: () => (this.isIdentified ? approvals : null),
        reload: (...given) => this.reload(...given),
        operations: this.#operations(),
        drills: () => (this.isIdentified ? this.drills : null),
        streams: this.streams,
        asyncApi: async () => Buffer.from(JSON.stringify(this.asyncApi)),
      },
      callers,
    );
    return {
      ...{ setting: 'http.listen', listen: { host: '127.0.0.1', port: 0 }, tls: null, routes, deps: systemDeps() },
      onDropped: () => {},
      logger: pino({ level: 'trace' }, { write: (line: string) => this.log.push(line) }),
    };
  }

  async #authenticate({ token }: Credentials): Promise<Authentication> {
    this.judging();
    const caller = this.callers[token ?? ''];
    return caller ? { outcome: 'known', caller } : { outcome: 'nobody', detail: 'Nobody has this token.' };
  }

  #approvals(): ServedApprovals {
    const told = <T>(words: unknown[], reply: T): T => this.#tell(words, reply);
    return {
      request: ({ approver }, body) => {
        this.asked.push({ approver, body });
        return this.answer();
      },
      hold: ({ approver, via }, body) => told(['hold', approver, via, body], this.held()),
      release: ({ approver }, eventId, holder, beforeMs = null) =>
        told(['release', approver, eventId, holder, ...(beforeMs === null ? [] : [beforeMs])], this.released()),
      holdAll: async ({ approver, via }, reason) => told(['hold all', approver, via, reason], this.heldAll()),
      releaseAll: ({ approver }, holder, beforeMs = null) =>
        told(['release all', approver, holder, ...(beforeMs === null ? [] : [beforeMs])], this.released()),
      answered: (eventId) => this.answered(eventId),
      life: (eventId, range) => told(['life', eventId, range?.after, range?.limit], this.life()),
    };
  }

  /** Those that the test has set by the time they are asked. */
  #operations(): OperatorActions {
    return {
      sinks: () => this.operations.sinks(),
      pause: (...given) => this.operations.pause(...given),
      resume: (...given) => this.operations.resume(...given),
      deadLetters: (page) => this.operations.deadLetters(page),
      decide: (...given) => this.operations.decide(...given),
      journal: (range) => this.operations.journal(range),
      running: () => this.operations.running(),
    };
  }

  #tell<T>(words: unknown[], reply: T): T {
    this.told.push(words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '));
    return reply;
  }

  /** Journals these, and tells the readers of the stream. */
  commit(...entries: readonly JournalledEntry[]): void {
    this.journal.push(...entries);
    this.streams.committed(entries);
  }

  async start(t: TestContext, parts: HttpServerParts): Promise<void> {
    const server = await openHttpServer(parts);
    this.close = () => {
      this.streams.close();
      return server[Symbol.asyncDispose]();
    };
    t.after(this.close);
    this.port = server.port;
    this.#isMain = parts.routes.some(({ path }) => path === '/v1/events');
  }

  /** What the bridge answers, which the OpenAPI document has to tell of. */
  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const answer = await this.#send(method, path, options);
    // The headers that Node refuses by itself, the document does not tell of.
    if (this.#isMain && answer.status !== 431) assertConforms(method, path, answer);
    return answer;
  }

  #send(method: string, path: string, options: SendOptions): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { body, agent } = options;
      // Node gives a body of a GET or DELETE no length, and what follows would be another request.
      const isChunked = options.headers?.['transfer-encoding'] !== undefined;
      const length = body === undefined || isChunked ? {} : { 'content-length': Buffer.byteLength(body) };
      const headers = { ...length, ...options.headers };
      const tls = { rejectUnauthorized: false };
      const target = { ...tls, host: '127.0.0.1', port: this.port, method, path, headers, agent: agent ?? false };
      const request = (this.#isTls ? https : http).request(target, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: text.startsWith('{') ? JSON.parse(text) : {},
          });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** A POST to /v1/approvals by an approver, unless `headers` say otherwise. */
  approve(
    body: string | Buffer = '{"StartRequests":[{"EventId":"A"}]}',
    headers: http.OutgoingHttpHeaders = {},
  ): Promise<Answer> {
    const usual = { authorization: `Bearer ${APPROVER}`, 'content-type': 'application/json' };
    return this.send('POST', '/v1/approvals', { headers: { ...usual, ...headers }, body });
  }
}

/** A fixture that serves plain HTTP. */
export async function serve(t: TestContext, settings: { requireToken?: boolean } = {}): Promise<HttpFixture> {
  const fixture = new HttpFixture();
  await fixture.start(t, fixture.parts(settings));
  return fixture;
}
