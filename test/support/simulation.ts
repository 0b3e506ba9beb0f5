// A simulator in virtual time, and what tests say to it: requests of the VM's own and control requests, without sockets.
import assert from 'node:assert/strict';
import type { SimAnswer } from '../../src/simulator/answer.ts';
import { shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { Simulator } from '../../src/simulator/simulator.ts';
import { VirtualTime } from './virtual-time.ts';

/** An event as documents list it; older api-versions lack some of its fields. */
export interface ListedEvent {
  readonly EventId: string;
  readonly EventStatus: string;
  readonly EventType: string;
  readonly ResourceType: string;
  readonly Resources: readonly string[];
  readonly NotBefore: string;
  readonly Description?: string;
  readonly EventSource?: string;
  readonly DurationInSeconds?: number;
}

export interface Document {
  readonly DocumentIncarnation: number;
  readonly Events: readonly ListedEvent[];
}

export const EVENTS = '/metadata/scheduledevents?api-version=2020-07-01';

const SCENARIOS = await shippedScenarios();

export class Simulation {
  readonly time: VirtualTime;
  readonly simulator: Simulator;

  constructor(options: { vmName?: string; speed?: number; startMs?: number; seed?: number } = {}) {
    const { startMs, seed, ...rest } = options;
    this.time = new VirtualTime({ ...(startMs === undefined ? {} : { startMs }), ...(seed === undefined ? {} : { seed }) });
    this.simulator = Simulator.alone({ deps: this.time, scenarios: SCENARIOS, ...rest });
  }

  /** As it is, without the Metadata header. */
  send(method: string, url: string, options: { headers?: Record<string, string>; body?: unknown } = {}): SimAnswer {
    const text = options.body === undefined ? '' : typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
    return this.simulator.handle({ method, url, headers: options.headers ?? {}, body: new TextEncoder().encode(text) });
  }

  get(url: string, headers: Record<string, string> = {}): SimAnswer {
    return this.send('GET', url, { headers: { Metadata: 'true', ...headers } });
  }

  document(apiVersion = '2020-07-01'): Document {
    const answer = this.get(`/metadata/scheduledevents?api-version=${apiVersion}`);
    assert.equal(answer.status, 200, textOf(answer));
    return jsonOf<Document>(answer);
  }

  /** `[[EventId, EventStatus], …]` */
  statuses(): readonly (readonly [string, string])[] {
    return this.document().Events.map((event) => [event.EventId, event.EventStatus] as const);
  }

  approve(...eventIds: readonly string[]): SimAnswer {
    return this.startRequests({ StartRequests: eventIds.map((EventId) => ({ EventId })) });
  }

  /** A POST with this body. */
  startRequests(body: unknown): SimAnswer {
    return this.send('POST', EVENTS, { headers: { Metadata: 'true' }, body });
  }

  schedule(fields: object = {}): ListedEvent {
    const answer = this.send('POST', '/simulator/events', { body: fields });
    assert.equal(answer.status, 201, textOf(answer));
    return jsonOf<ListedEvent>(answer);
  }

  /** Lets simulated time pass at once, through the control route. */
  advance(duration: string): void {
    const answer = this.send('PUT', '/simulator/clock', { body: { advance: duration } });
    assert.equal(answer.status, 200, textOf(answer));
  }
}

export function textOf(answer: SimAnswer): string {
  return new TextDecoder().decode(answer.body);
}

export function jsonOf<T>(answer: SimAnswer): T {
  return JSON.parse(textOf(answer)) as T;
}
