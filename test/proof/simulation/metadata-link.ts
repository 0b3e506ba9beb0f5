// Requests of one process → the simulated service, over a way that loses, delays and repeats.
import { BridgeError } from '../../../src/errors.ts';
import type { MetadataTransport, TransportAnswer, TransportRequest } from '../../../src/metadata/transport.ts';
import type { Simulator } from '../../../src/simulator/simulator.ts';
import { sleep } from '../../../src/time/clock.ts';
import type { MachineClock } from '../../virtual/machine-clock.ts';
import { Chance } from './chance.ts';
import type { EntryFault, KillMoment, MetadataFault } from './history.ts';

const STATUSES = [400, 401, 403, 404, 405, 410, 429, 500, 503, 504];
const PAGE = '<html><body>Please log in</body></html>';
const BROKEN = ['{"DocumentIncarnation":7,"Eve', '{"DocumentIncarnation":7}', '{"DocumentIncarnation":-1,"Events":{}}'];
const SLOW_MS = 15_000;
/** As many documents as a host that lags behind may give out again. */
const MOST_STALE = 4;

export interface MetadataLinkDeps {
  readonly simulator: Simulator;
  readonly clock: MachineClock;
  readonly nowMs: () => number;
  readonly seed: string;
  readonly killed: () => AbortSignal;
  readonly moment: (moment: KillMoment) => void;
  readonly seeDocument: (text: string | null) => void;
  readonly seePosted: (eventIds: readonly string[]) => number;
  readonly seeAccepted: (post: number, eventIds: readonly string[]) => void;
  readonly seeAnswered: (post: number, status: number | null) => void;
}

/** What the whole group's service does, apart from the way to it. */
export interface ServiceState {
  /** Taken from each incarnation, after the service has restarted. */
  offset: number;
  /** It finds no event before this time. */
  emptyUntilMs: number;
}

export class MetadataLink {
  readonly #deps: MetadataLinkDeps;
  readonly #service: ServiceState;
  readonly #faults: { readonly kind: MetadataFault; readonly untilMs: number }[] = [];
  readonly #given: string[] = [];
  #requests = 0;
  #last: { readonly incarnation: number; readonly text: string; readonly body: Uint8Array } | null = null;

  constructor(deps: MetadataLinkDeps, service: ServiceState) {
    this.#deps = deps;
    this.#service = service;
  }

  fault(kind: MetadataFault, forMs: number): void {
    this.#faults.push({ kind, untilMs: this.#deps.nowMs() + forMs });
  }

  heal(): void {
    this.#faults.length = 0;
  }

  readonly transport: MetadataTransport = async (request, signal) => {
    const killed = this.#deps.killed();
    const both = () => AbortSignal.any([signal, killed]);
    if (killed.aborted) return await forEver();
    if (request.url.includes('/metadata/instance')) return this.#ask(request);
    const chance = new Chance(this.#deps.seed, this.#requests++);
    const answer =
      request.method === 'POST' ? await this.#post(request, chance, both) : await this.#get(request, chance, both);
    // A machine that stands still reads its answers later.
    if (this.#deps.clock.isFrozen) await new Promise<void>((resolve) => this.#deps.clock.run(resolve));
    if (killed.aborted) return await forEver();
    signal.throwIfAborted();
    if (answer instanceof BridgeError) {
      if (request.method === 'GET') this.#deps.seeDocument(null);
      throw answer;
    }
    if (request.method === 'GET') this.#deps.seeDocument(answer.text);
    return answer.answer;
  };

  async #get(
    request: TransportRequest,
    chance: Chance,
    signal: () => AbortSignal,
  ): Promise<{ readonly text: string | null; readonly answer: TransportAnswer } | BridgeError> {
    const broken = (status: number, body: string) => ({ text: null, answer: answerOf(status, body) });
    const fault = this.#faultFor('GET');
    if (fault === 'reset') return reset();
    if (fault === 'silent') return await this.#silence(request, signal());
    if (fault === 'slow') {
      const waitMs = chance.between(0, SLOW_MS);
      if (waitMs > request.timeoutMs) return await this.#silence(request, signal());
      await sleep(this.#deps.clock, waitMs, signal());
    }
    if (fault === 'status') {
      const status = chance.one(STATUSES);
      return broken(status, '{}');
    }
    if (fault === 'page') return broken(200, PAGE);
    if (fault === 'broken-json') return broken(200, chance.one(BROKEN));
    if (fault === 'empty' && chance.is(0.7)) return { text: '', answer: answerOf(200, '') };
    return this.#document(request, fault, chance);
  }

  #document(request: TransportRequest, fault: MetadataFault | null, chance: Chance) {
    const answer = this.#ask(request);
    const given = new TextDecoder().decode(answer.body);
    const found = /^\{"DocumentIncarnation":(\d+),/.exec(given);
    if (answer.status !== 200 || found === null) return { text: null, answer };
    const incarnation = Number(found[1]) - this.#service.offset;
    const isEmpty = this.#deps.nowMs() < this.#service.emptyUntilMs;
    let text = isEmpty
      ? '{"DocumentIncarnation":1,"Events":[]}'
      : given.replace(/^\{"DocumentIncarnation":\d+/, `{"DocumentIncarnation":${incarnation}`);
    if (this.#given.at(-1) !== text) this.#given.push(text);
    if (fault === 'two-hosts' && chance.is(0.5))
      text = `{"DocumentIncarnation":${Math.max(0, incarnation - 1)},"Events":[]}`;
    if (fault === 'stale') text = chance.one(this.#given.slice(-MOST_STALE));
    if (fault === 'nameless-entries' || fault === 'statusless-entries') text = this.#withOddEntries(text, fault);
    if (this.#last?.text !== text) this.#last = { incarnation, text, body: new TextEncoder().encode(text) };
    return { text, answer: { ...answer, body: this.#last.body } };
  }

  /** The same events each time. */
  #withOddEntries(text: string, fault: EntryFault): string {
    const document = JSON.parse(text) as { readonly Events: readonly { readonly EventId: string }[] };
    const odd = fault === 'nameless-entries' ? { EventId: '' } : { EventStatus: 'Unknown' };
    const Events = document.Events.map((entry) =>
      new Chance(this.#deps.seed, 'entry', entry.EventId).is(0.6) ? { ...entry, ...odd } : entry,
    );
    return JSON.stringify({ ...document, Events });
  }

  async #post(
    request: TransportRequest,
    chance: Chance,
    signal: () => AbortSignal,
  ): Promise<{ readonly text: null; readonly answer: TransportAnswer } | BridgeError> {
    const { StartRequests } = JSON.parse(request.body ?? '') as { StartRequests: { EventId: string }[] };
    const eventIds = StartRequests.map(({ EventId }) => EventId);
    const post = this.#deps.seePosted(eventIds);
    this.#deps.moment('post');
    if (this.#deps.killed().aborted) return await forEver();
    const fault = this.#faultFor('POST');
    const told = (answer: TransportAnswer | BridgeError) => {
      if (this.#deps.killed().aborted) return answer instanceof BridgeError ? answer : { text: null, answer };
      this.#deps.seeAnswered(post, answer instanceof BridgeError ? null : answer.status);
      return answer instanceof BridgeError ? answer : { text: null, answer };
    };
    if (fault === 'reset' || fault === 'post-lost') return told(reset());
    if (fault === 'silent') return told(await this.#silence(request, signal()));
    if (fault === 'status' || fault === 'post-status') return told(answerOf(chance.one(STATUSES), '{}'));
    if (fault === 'post-slow') await sleep(this.#deps.clock, chance.between(0, request.timeoutMs), signal());
    const send = () => {
      const answer = this.#ask(request);
      if (answer.status === 200) this.#deps.seeAccepted(post, eventIds);
      return answer;
    };
    const answer = send();
    this.#deps.moment('posted');
    if (fault === 'post-repeated') send();
    if (fault === 'post-answer-lost') return told(chance.is(0.5) ? reset() : await this.#silence(request, signal()));
    if (fault === 'post-slow') await sleep(this.#deps.clock, chance.between(0, 2000), signal());
    if (this.#deps.clock.isFrozen) await new Promise<void>((resolve) => this.#deps.clock.run(resolve));
    return told(answer);
  }

  #ask({ method, url, headers, body }: TransportRequest): TransportAnswer {
    const { pathname, search } = new URL(url);
    const answer = this.#deps.simulator.handle({
      method,
      url: pathname + search,
      headers,
      body: new TextEncoder().encode(body ?? ''),
    });
    return { status: answer.status, headers: answer.headers, body: answer.body };
  }

  /** No answer within the limit of the request. */
  async #silence({ timeoutMs }: TransportRequest, signal: AbortSignal): Promise<BridgeError> {
    await sleep(this.#deps.clock, timeoutMs, signal);
    return new BridgeError('BRIDGE_METADATA_TIMEOUT', `no answer within ${timeoutMs} ms`);
  }

  #faultFor(method: 'GET' | 'POST'): MetadataFault | null {
    const nowMs = this.#deps.nowMs();
    const isFor = (kind: MetadataFault) =>
      method === 'POST' ? kind.startsWith('post-') || POST_TOO.has(kind) : !kind.startsWith('post-');
    return this.#faults.findLast(({ kind, untilMs }) => nowMs < untilMs && isFor(kind))?.kind ?? null;
  }
}

const POST_TOO: ReadonlySet<MetadataFault> = new Set(['reset', 'silent', 'status']);

/** As the real transport throws it. The service may have read the request. */
function reset(): BridgeError {
  return new BridgeError('BRIDGE_METADATA_UNREACHABLE', 'the connection was reset', { status: 'ECONNRESET' });
}

function answerOf(status: number, body: string): TransportAnswer {
  return { status, headers: {}, body: new TextEncoder().encode(body) };
}

/** What a killed process waits for. */
function forEver(): Promise<never> {
  return new Promise(() => {});
}
