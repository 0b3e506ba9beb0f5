// What a bridge was given to read → the CloudEvents that it owes; shares no code with src/changes.
import assert from 'node:assert/strict';
import type { MetadataTransport, TransportAnswer } from '../../src/metadata/transport.ts';
import type { WireEvent } from '../../src/simulator/events/event.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import type { CloudEvent } from './memory-sinks.ts';

/** One state of an event as a good document listed it. */
interface Sight {
  readonly status: string;
  readonly content: string;
}

/** A stretch of virtual wall time. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Stands between a bridge and its metadata service and remembers each good document. */
export class ExpectedEvents {
  /** By EventId in lower case: its contents in the order in which good documents showed them, each once in a row. */
  readonly sights = new Map<string, Sight[]>();
  /** Between two good answers, where they lie more than a minute apart. */
  readonly gaps: Span[] = [];
  /** EventIds of the StartRequests that the service accepted. */
  readonly accepted: string[] = [];
  polls = 0;
  good = 0;
  readonly #simulator: Simulator;
  readonly #wallMs: () => number;
  /** By EventId in lower case: when the service stopped listing it. */
  readonly #goneMs = new Map<string, number>();
  #listed = new Set<string>();
  #incarnation = 0;
  #lastGoodMs: number | null = null;
  /** Of the last good document. */
  #body: Uint8Array | null = null;

  constructor(simulator: Simulator, wallMs: () => number) {
    this.#simulator = simulator;
    this.#wallMs = wallMs;
  }

  /** `service` with this before it. */
  before(service: MetadataTransport): MetadataTransport {
    return async (request, signal) => {
      const isDocument = request.method === 'GET' && request.url.includes('scheduledevents');
      this.look();
      const answer = await service(request, signal);
      signal.throwIfAborted();
      if (isDocument) this.#read(answer);
      else if (request.method === 'POST' && answer.status === 200) this.#accept(request.body ?? '');
      return answer;
    };
  }

  /** Looks which events the service lists, whatever it answers. */
  look(): void {
    const { events } = this.#simulator.group;
    this.#simulator.group.catchUp();
    if (events.view.incarnation === this.#incarnation) return;
    this.#incarnation = events.view.incarnation;
    const listed = new Set(events.view.listed(this.#simulator.vmName).map((event) => event.EventId.toLowerCase()));
    for (const key of this.#listed) if (!listed.has(key)) this.#goneMs.set(key, this.#wallMs());
    this.#listed = listed;
  }

  get nothingIsListed(): boolean {
    return this.#listed.size === 0;
  }

  /**
   * @throws where these CloudEvents, all that were made of one event in their order, are not what its documents tell.
   */
  checkEvent(key: string, made: readonly CloudEvent[]): void {
    const sights = this.sights.get(key) ?? [];
    const changes = made.filter(({ type }) => !type.includes('.approval.'));
    const told = changes.map(({ type }) => type.split('.').at(-2));
    const expected = sights.map(({ status }, place) => {
      const before = sights[place - 1]?.status;
      if (before === undefined) return status === 'Started' ? 'started' : 'scheduled';
      return before === 'Scheduled' && status === 'Started' ? 'started' : 'updated';
    });
    assert.deepEqual(told, [...expected, 'ended'], `changes of ${key}`);
    for (const [place, sight] of sights.entries()) {
      const { data } = changes[place] as CloudEvent;
      assert.equal(contentOfData(data), sight.content, `content of ${key}`);
      assert.equal(data.previousStatus, sights[place - 1]?.status ?? null);
    }
    const ended = changes.at(-1) as CloudEvent;
    const goneMs = this.#goneMs.get(key) ?? Number.POSITIVE_INFINITY;
    assert.ok(
      Date.parse(ended.time) >= goneMs,
      `${key} was ended at ${ended.time}, and listed until ${new Date(goneMs).toISOString()}`,
    );
  }

  #read({ status, body }: TransportAnswer): void {
    this.polls += 1;
    if (body === this.#body) {
      this.#seeService();
      return;
    }
    const text = status === 200 ? new TextDecoder().decode(body) : 'none';
    // An empty 200 counts as sight, and tells of no event.
    if (text !== '' && !/^\{"DocumentIncarnation":\d+,"Events":\[.*\]\}$/s.test(text)) return;
    this.#seeService();
    if (text === '') return;
    this.#body = body;
    for (const event of (JSON.parse(text) as { Events: WireEvent[] }).Events) this.#see(event);
  }

  #seeService(): void {
    this.good += 1;
    const nowMs = this.#wallMs();
    if (this.#lastGoodMs !== null && nowMs - this.#lastGoodMs > 60_000)
      this.gaps.push({ fromMs: this.#lastGoodMs, toMs: nowMs });
    this.#lastGoodMs = nowMs;
  }

  #see(event: WireEvent): void {
    const key = event.EventId.toLowerCase();
    const seen = this.sights.get(key) ?? [];
    this.sights.set(key, seen);
    const content = contentOfWire(event);
    if (seen.at(-1)?.content !== content) seen.push({ status: event.EventStatus, content });
  }

  #accept(body: string): void {
    for (const { EventId } of (JSON.parse(body) as { StartRequests: { EventId: string }[] }).StartRequests)
      this.accepted.push(EventId);
  }
}

function contentOfWire(event: WireEvent): string {
  const notBefore = event.NotBefore === '' ? null : Date.parse(event.NotBefore);
  const { EventId, EventType, EventStatus, ResourceType, Resources, Description, EventSource, DurationInSeconds } =
    event;
  return JSON.stringify([
    EventId,
    EventType,
    EventStatus,
    ResourceType,
    [...Resources].sort(),
    notBefore,
    Description,
    EventSource,
    DurationInSeconds,
  ]);
}

function contentOfData(data: CloudEvent['data']): string {
  const notBefore = data['notBefore'] === null ? null : Date.parse(data['notBefore'] as string);
  const resources = [...(data['resources'] as string[])].sort();
  return JSON.stringify([
    data.eventId,
    data['eventType'],
    data.eventStatus,
    data['resourceType'],
    resources,
    notBefore,
    data['description'],
    data['eventSource'],
    data['durationInSeconds'],
  ]);
}
