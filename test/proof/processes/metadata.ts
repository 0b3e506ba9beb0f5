// Steps and faults → a metadata service on loopback, and all that a bridge asked and was given.
import type { TestContext } from 'node:test';
import { type FakeAnswer, FakeMetadata, type FakeRequest } from '../../far-sides/metadata-service.ts';
import { keyOf, type ListedEvent } from '../simulation/oracle/listed-event.ts';
import type { Step } from './story.ts';
import { VM } from './story.ts';

const SUBSCRIPTION = 'a8fa7fd6-0893-411a-8990-7b5545ccf9c4';
const INSTANCE = JSON.stringify({
  compute: {
    ...{ vmId: '31a487ce-6bf2-4235-8cf5-f9d3f16b4af7', name: VM, vmScaleSetName: 'sim' },
    ...{ subscriptionId: SUBSCRIPTION, resourceGroupName: 'simulated' },
  },
});
/** The `source` of the CloudEvents of this VM. */
export const SOURCE = `/subscriptions/${SUBSCRIPTION}/resourcegroups/simulated/providers/microsoft.compute/virtualmachinescalesets/sim`;

/** What a fault makes of a request; undefined: nothing, the service answers as usual. */
export type Disturbance = (request: FakeRequest, service: MetadataService) => FakeAnswer | undefined;

export interface Posted {
  readonly eventIds: readonly string[];
  readonly atMs: number;
  /** The answer left the service; a fault may have cut it. */
  readonly isAnswered: boolean;
  readonly isAccepted: boolean;
}

export class MetadataService {
  readonly posts: Posted[] = [];
  /** By step: when a document with it was first given, in ms of `performance.now()`. */
  readonly firstGiven = new Map<number, number>();
  /** By step: the incarnations under which it was given. */
  readonly incarnations = new Map<number, Set<number>>();
  readonly disturbances = new Set<Disturbance>();
  /** Documents that were given, apart from those that faults make. */
  given = 0;
  /** Called at each request of the document. */
  onPoll: () => void = () => {};
  /** Subtracted from each incarnation, once the service has restarted. */
  offset = 0;
  readonly #fake: FakeMetadata;
  readonly #listed = new Map<string, ListedEvent>();
  #incarnation = 1000;
  #step = -1;
  #awaited: Step | null = null;

  private constructor(fake: FakeMetadata) {
    this.#fake = fake;
    fake.respond = (request) => this.#respond(request);
  }

  static async start(t: TestContext): Promise<MetadataService> {
    return new MetadataService(await FakeMetadata.start(t));
  }

  get url(): string {
    return this.#fake.url;
  }

  /** The document as it is now, and nothing of it counts as given. */
  get document(): string {
    return JSON.stringify({ DocumentIncarnation: this.incarnation, Events: [...this.#listed.values()] });
  }

  get incarnation(): number {
    return this.#incarnation - this.offset;
  }

  /** Makes a step true, or, for one that is approved, waits for its StartRequest. */
  take(step: Step, index: number): void {
    if (step.isApproved) this.#awaited = step;
    else this.#apply(step);
    this.#step = index;
  }

  /** Answers the oldest request that a fault has held, with the document of then. */
  release(): void {
    const response = this.#fake.held.shift();
    if (response === undefined || response.destroyed) return;
    const body = this.#give();
    response.writeHead(200, { 'Content-Length': Buffer.byteLength(body) }).end(body);
  }

  /** Cuts the connections of requests that a fault has held. */
  cutHeld(): void {
    for (const response of this.#fake.held.splice(0)) response.destroy();
  }

  /** Takes a StartRequest, whatever becomes of the answer. */
  accept(request: FakeRequest, isAnswered: boolean): FakeAnswer {
    const eventIds = requestedIn(request.body);
    const known = eventIds.every((id) => this.#listed.has(keyOf(id)));
    this.posts.push({ eventIds, atMs: performance.now(), isAnswered, isAccepted: known });
    if (!known) return { status: 400, body: '{"error":"not found"}' };
    const awaited = this.#awaited;
    if (awaited !== null && eventIds.some((id) => keyOf(id) === keyOf(awaited.event.EventId))) {
      this.#awaited = null;
      this.#apply(awaited);
    }
    return { body: '' };
  }

  /** Notes a StartRequest that a fault loses. */
  lose(request: FakeRequest): void {
    const eventIds = requestedIn(request.body);
    this.posts.push({ eventIds, atMs: performance.now(), isAnswered: false, isAccepted: false });
  }

  #apply({ phase, event }: Step): void {
    this.#incarnation += 1;
    if (phase === 'ended') this.#listed.delete(keyOf(event.EventId));
    else this.#listed.set(keyOf(event.EventId), event);
  }

  #respond(request: FakeRequest): FakeAnswer {
    if (request.path.startsWith('/metadata/instance')) return { body: INSTANCE };
    if (request.method === 'GET') this.onPoll();
    for (const disturb of this.disturbances) {
      const answer = disturb(request, this);
      if (answer !== undefined) return answer;
    }
    return request.method === 'POST' ? this.accept(request, true) : { body: this.#give() };
  }

  /** Gives the document of now under another incarnation. */
  giveAs(incarnation: number): string {
    return this.#give(incarnation);
  }

  /** Returns a function that gives the document of now, whenever it is called. */
  staleDocument(): () => string {
    const [step, { incarnation, document }] = [this.#step, this];
    const isMade = this.#awaited === null;
    return () => {
      this.#note(step, isMade, incarnation);
      return document;
    };
  }

  #give(incarnation = this.incarnation): string {
    this.given += 1;
    this.#note(this.#step, this.#awaited === null, incarnation);
    return JSON.stringify({ DocumentIncarnation: incarnation, Events: [...this.#listed.values()] });
  }

  #note(step: number, isMade: boolean, incarnation: number): void {
    if (isMade && !this.firstGiven.has(step)) this.firstGiven.set(step, performance.now());
    const under = this.incarnations.get(step) ?? new Set();
    this.incarnations.set(step, under.add(incarnation));
  }
}

function requestedIn(body: string): readonly string[] {
  return (JSON.parse(body) as { StartRequests: { EventId: string }[] }).StartRequests.map(({ EventId }) => EventId);
}
