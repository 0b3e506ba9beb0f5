// Requests of the VM and control requests → one simulated machine's answers, in virtual time.

import assert from 'node:assert/strict';
import type { SimAnswer } from '../../src/simulator/answer.ts';
import type { WireEvent } from '../../src/simulator/events/event.ts';
import { shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { simulatorAlone } from './simulator-alone.ts';
import { VirtualTime } from './virtual-time.ts';

export interface Document {
  readonly DocumentIncarnation: number;
  readonly Events: readonly WireEvent[];
}

export const EVENTS = '/metadata/scheduledevents?api-version=2020-07-01';

const SCENARIOS = await shippedScenarios();

/** What tests say to one machine. */
export class SimulatedMachine {
  readonly simulator: Simulator;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  get name(): string {
    return this.simulator.vmName;
  }

  /** As it is, without the Metadata header. A body that is a text goes as it is, any other as its JSON. */
  send(
    method: string,
    url: string,
    options: { headers?: Readonly<Record<string, string>>; body?: unknown } = {},
  ): SimAnswer {
    const { headers = {}, body } = options;
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    return this.simulator.handle({ method, url, headers, body: new TextEncoder().encode(text) });
  }

  /** With the Metadata header unless others are given. */
  ask(
    method: string,
    url: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = { Metadata: 'true' },
  ): SimAnswer {
    return this.send(method, url, { headers, body });
  }

  get(url: string = EVENTS, headers: Readonly<Record<string, string>> = {}): SimAnswer {
    return this.ask('GET', url, undefined, { Metadata: 'true', ...headers });
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
    return this.ask('POST', EVENTS, body);
  }

  /** A control request that is to be answered with this status. */
  order(method: string, path: string, body?: unknown, status = 200): SimAnswer {
    const answer = this.send(method, `/simulator${path}`, { body });
    assert.equal(answer.status, status, textOf(answer));
    return answer;
  }

  schedule(fields: object = {}): WireEvent {
    return jsonOf<WireEvent>(this.order('POST', '/events', fields, 201));
  }

  /** Lets simulated time pass at once. */
  advance(duration: string): void {
    this.order('PUT', '/clock', { advance: duration });
  }
}

/**
 * A machine that is a group of its own and knows the shipped scenarios, on a clock that moves by `time.advance` and
 * orders alone.
 */
export class Simulation extends SimulatedMachine {
  readonly time: VirtualTime;

  constructor(options: { vmName?: string; speed?: number; startMs?: number; seed?: number } = {}) {
    const { startMs, seed, ...rest } = options;
    const time = new VirtualTime({
      ...(startMs === undefined ? {} : { startMs }),
      ...(seed === undefined ? {} : { seed }),
    });
    super(simulatorAlone({ deps: time, scenarios: SCENARIOS, ...rest }));
    this.time = time;
  }
}

export function textOf(answer: SimAnswer): string {
  return new TextDecoder().decode(answer.body);
}

export function jsonOf<T>(answer: SimAnswer): T {
  return JSON.parse(textOf(answer)) as T;
}
