// A bridge's stream and routes → what it lists, its sinks in trouble, and if it answers.
import { messageOf } from '../../errors.ts';
import { isObject, objectOf, stringOf } from '../../formats/json-object.ts';
import { askBridge } from '../bridge/bridge-client.ts';
import type { VerbContext } from '../verb.ts';
import { EventStream } from './event-stream.ts';
import { type ListedEvent, listedEvent } from './listed-event.ts';
import type { WatchedAddress } from './watched-address.ts';

const TIMEOUT_MS = 5000;
/** The fault of a bridge before its first answer. */
export const CONNECTING = 'connecting';

/** A sink that does not deliver, or has dead letters. */
export interface SinkTrouble {
  readonly name: string;
  readonly state: string;
  readonly queued: number;
  readonly deadLetters: number;
  /** The last error, only while the sink does not deliver. */
  readonly error: string | null;
}

interface StreamedChange {
  readonly change: string;
  readonly event: ListedEvent;
}

/** What of a bridge is older than its stream. */
type Staleness = 'fresh' | 'changed' | 'unknown';

/** A change that ends, and so is listed no longer. */
const ENDED = 'ended';
const LISTED = ['scheduled', 'updated', 'started'];

export class WatchedBridge {
  readonly address: WatchedAddress;
  readonly #context: Pick<VerbContext, 'deps' | 'signal'>;
  readonly #stream: EventStream;
  readonly #onChange: () => void;
  readonly events = new Map<string, ListedEvent>();
  /** The name of its machine, or its address while that is unknown. */
  name: string;
  /** Why it cannot be watched, or null. Its events are the last known ones. */
  fault: string | null = CONNECTING;
  /** Since when, in elapsed milliseconds. */
  faultSinceMs: number;
  /** Why it is not ready; empty if it is. */
  reasons: readonly string[] = [];
  isDryRun = false;
  isBlind = false;
  /** The hold of everything, in words; null if there is none. */
  heldAll: string | null = null;
  sinks: readonly SinkTrouble[] = [];
  /** Whether its stream is open. */
  isConnected = false;
  staleness: Staleness = 'unknown';
  /** When it was last read, in elapsed milliseconds. */
  readMs = 0;
  isReading = false;
  /** What the stream has brought while a document was on its way: the document may be older. */
  #meanwhile: StreamedChange[] = [];

  constructor(address: WatchedAddress, context: Pick<VerbContext, 'deps' | 'signal'>, onChange: () => void) {
    this.address = address;
    this.name = address.url.host;
    this.#context = context;
    this.#onChange = onChange;
    this.faultSinceMs = context.deps.elapsedMs();
    this.#stream = new EventStream(address, context.deps, {
      opened: () => {
        [this.isConnected, this.staleness] = [true, 'unknown'];
      },
      received: (change, data) => this.#received(change, data),
      broke: (reason) => {
        this.isConnected = false;
        this.#failed(reason);
      },
    });
  }

  open(delayMs: number): void {
    this.#stream.open(delayMs);
  }

  close(): void {
    this.#stream.close();
  }

  checkSilence(): void {
    this.#stream.checkSilence();
  }

  /** Reads its routes: everything, or only the events. Never rejects. */
  async read(parts: 'all' | 'events'): Promise<void> {
    const { deps } = this.#context;
    [this.isReading, this.readMs, this.staleness] = [true, deps.elapsedMs(), 'fresh'];
    try {
      if (parts === 'all') await this.#readState();
      await this.#readEvents();
      if (this.isConnected) this.fault = null;
    } catch (error) {
      if (!this.#context.signal.aborted) this.#failed(messageOf(error));
    } finally {
      this.isReading = false;
      this.#onChange();
    }
  }

  async #readEvents(): Promise<void> {
    this.#meanwhile = [];
    const answer = objectOf(await this.#get('/v1/events'));
    if (!Array.isArray(answer['events'])) throw new Error('its answer is not that of a bridge');
    const name = objectOf(answer['vm'])['name'];
    if (typeof name === 'string') this.name = name;
    this.isDryRun = answer['dryRun'] === true;
    this.isBlind = answer['state'] === 'blind';
    this.events.clear();
    for (const value of answer['events']) {
      const event = listedEvent(value);
      if (event !== null) this.events.set(event.key, event);
    }
    for (const change of this.#meanwhile) this.#apply(change);
  }

  async #readState(): Promise<void> {
    const [ready, sinks] = await Promise.all([this.#get('/readyz'), this.#get('/v1/sinks')]);
    const { reasons, heldAll } = objectOf(ready);
    this.reasons = Array.isArray(reasons) ? reasons.map(String) : [];
    this.heldAll = isObject(heldAll) ? heldAllWords(stringOf(heldAll['by']), stringOf(heldAll['reason'])) : null;
    this.sinks = (Array.isArray(sinks) ? sinks : []).map(sinkOf).filter(isInTrouble);
  }

  async #get(path: string): Promise<unknown> {
    const { url, headers } = this.address;
    const request = { method: 'GET', url: new URL(path, url), headers } as const;
    const { status, body } = await askBridge(request, this.#context, TIMEOUT_MS);
    if (status !== 200 && !(status === 503 && path === '/readyz')) throw new Error(`${path} answered ${status}`);
    return JSON.parse(body);
  }

  #received(change: string, data: string): void {
    // Approvals, and sight lost or back: only the routes have the whole of it.
    if (this.staleness === 'fresh') this.staleness = 'changed';
    if (change !== ENDED && !LISTED.includes(change)) return;
    const event = streamedEvent(change, data, this.events);
    if (event === null) return;
    if (this.isReading) this.#meanwhile.push({ change, event });
    this.#apply({ change, event });
    this.#onChange();
  }

  #apply({ change, event }: StreamedChange): void {
    if (change === ENDED) this.events.delete(event.key);
    else this.events.set(event.key, event);
  }

  #failed(reason: string): void {
    if (this.fault === null) this.faultSinceMs = this.#context.deps.elapsedMs();
    this.fault = reason;
    this.#onChange();
  }
}

/** Returns null for what is not a CloudEvent about an event. */
function streamedEvent(change: string, data: string, known: ReadonlyMap<string, ListedEvent>): ListedEvent | null {
  try {
    const cloudEvent = objectOf(JSON.parse(data));
    const event = listedEvent(cloudEvent['data']);
    if (event === null) return null;
    const before = known.get(event.key);
    const isSeen = change === 'scheduled' || change === 'updated';
    const cloudEventId = isSeen ? stringOf(cloudEvent['id']) : (before?.cloudEventId ?? null);
    // Until the events are read again.
    const { approval = null, nextStep = null, rule = null, heldBackBy = [] } = before ?? {};
    return { ...event, cloudEventId, approval, nextStep, rule, heldBackBy };
  } catch {
    return null;
  }
}

function sinkOf(value: unknown): SinkTrouble {
  const sink = objectOf(value);
  const state = stringOf(sink['state']);
  const name = stringOf(sink['name']);
  const message = objectOf(sink['lastError'])['message'];
  return {
    name,
    state,
    queued: Number(sink['queued']) || 0,
    deadLetters: Number(sink['deadLetters']) || 0,
    error: typeof message === 'string' && state !== 'delivering' ? message.replace(`sink ${name}: `, '') : null,
  };
}

function isInTrouble({ state, deadLetters }: SinkTrouble): boolean {
  return state !== 'delivering' || deadLetters > 0;
}

function heldAllWords(by: string, reason: string): string {
  return `everything is held by ${by}${reason === '' ? '' : `: ${reason}`}`;
}
