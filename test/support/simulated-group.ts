// Several simulated machines of one group in virtual time, and what tests say to each of them: its own requests and control requests, without sockets.
import assert from 'node:assert/strict';
import type { SimAnswer } from '../../src/simulator/answer.ts';
import { Group, type GroupOptions } from '../../src/simulator/group.ts';
import type { Script, Step } from '../../src/simulator/script/script.ts';
import { Simulator } from '../../src/simulator/simulator.ts';
import { type Document, EVENTS, jsonOf, type ListedEvent, textOf } from './simulation.ts';
import { VirtualTime } from './virtual-time.ts';

/** One machine of a group. */
export class SimulatedMachine {
  readonly #simulator: Simulator;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  get name(): string {
    return this.#simulator.vmName;
  }

  /** With the Metadata header unless others are given. */
  ask(method: string, url: string, body?: unknown, headers: Record<string, string> = { Metadata: 'true' }): SimAnswer {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    return this.#simulator.handle({ method, url, headers, body: new TextEncoder().encode(text) });
  }

  get(url: string = EVENTS, headers: Record<string, string> = {}): SimAnswer {
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

  /** The status of a POST of one StartRequest for each id. */
  approve(...eventIds: readonly string[]): number {
    return this.ask('POST', EVENTS, { StartRequests: eventIds.map((EventId) => ({ EventId })) }).status;
  }

  schedule(fields: object = {}): ListedEvent {
    return jsonOf<ListedEvent>(this.order('POST', '/events', fields, 201));
  }

  /** A control request that is to be answered with this status. */
  order(method: string, path: string, body?: unknown, status = 200): SimAnswer {
    const answer = this.ask(method, `/simulator${path}`, body, {});
    assert.equal(answer.status, status, textOf(answer));
    return answer;
  }

  /** Lets simulated time pass at once. */
  advance(duration: string): void {
    this.order('PUT', '/clock', { advance: duration });
  }
}

export interface SimulatedGroup {
  readonly time: VirtualTime;
  readonly group: Group;
  readonly machines: readonly SimulatedMachine[];
  readonly first: SimulatedMachine;
}

/** @param options `sim_0` alone by default; the clock stands still but for `time.advance` and control requests */
export function simulatedGroup(options: Omit<GroupOptions, 'deps'> & { readonly startMs?: number } = {}): SimulatedGroup {
  const { startMs, ...rest } = options;
  const time = new VirtualTime(startMs === undefined ? {} : { startMs });
  const group = new Group({ deps: time, ...rest });
  const machines = group.machines.map((machine) => new SimulatedMachine(new Simulator(group, machine)));
  return { time, group, machines, first: machines[0] as SimulatedMachine };
}

/** A scenario that is called `test`. */
export function scriptOf(...steps: readonly Step[]): Script {
  return { name: 'test', purpose: 'what a test needs', steps };
}
