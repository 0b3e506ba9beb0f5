// Settings → five bridges of one simulated group in virtual time; each can die, freeze or be slow.
import type { TestContext } from 'node:test';
import { BridgeError } from '../../src/errors.ts';
import type { MetadataTransport } from '../../src/metadata/transport.ts';
import { sleep } from '../../src/time/clock.ts';
import { MachineClock } from './machine-clock.ts';
import { simulatedGroup } from './simulated-group.ts';
import type { SimulatedMachine, Simulation } from './simulation.ts';
import { simulatorTransport } from './simulator-transport.ts';
import { type Settings, VirtualBridge } from './virtual-bridge.ts';
import type { VirtualTime } from './virtual-time.ts';

/** One machine of the group with its bridge, which runs once it is started. */
export class GroupMachine {
  readonly bridge: VirtualBridge;
  readonly clock: MachineClock;
  /** Which of its requests to the metadata service fail before they arrive; `events`: all but instance metadata. */
  cutOff: 'none' | 'POST' | 'events' | 'all' = 'none';
  /** How long its StartRequests are on their way, and their answers. */
  readonly transit = { thereMs: 0, backMs: 0 };
  readonly #send: MetadataTransport;

  constructor(t: TestContext, machine: SimulatedMachine, time: VirtualTime, settings: Settings) {
    this.clock = new MachineClock(time);
    const simulation: Simulation = Object.assign(machine, { time });
    this.bridge = new VirtualBridge(t, settings, { machine: { simulation, clocks: this.clock } });
    this.#send = simulatorTransport(machine.simulator, time);
    this.bridge.service = (request, signal) => this.#ask(request, signal);
  }

  get name(): string {
    return this.bridge.simulation.name;
  }

  /** A message on the source `topic`, of which this bridge has a subscription of its own. */
  hears(message: object): void {
    this.clock.run(() => this.bridge.source('topic').send(message));
  }

  async #ask(request: Parameters<MetadataTransport>[0], signal: AbortSignal): ReturnType<MetadataTransport> {
    const isPost = request.method === 'POST';
    const isOfEvents = request.url.includes('/metadata/scheduledevents');
    const failing = { none: false, POST: isPost, events: isOfEvents, all: true };
    if (failing[this.cutOff]) throw new BridgeError('BRIDGE_METADATA_UNREACHABLE', 'the machine is cut off');
    if (isPost) await sleep(this.clock, this.transit.thereMs, signal);
    const answer = await this.#send(request, signal);
    if (isPost) await sleep(this.clock, this.transit.backMs, signal);
    await new Promise<void>((resolve) => this.clock.run(resolve));
    return answer;
  }
}

/**
 * A StartRequest that reached the metadata service: whose, so many seconds after the event was scheduled, and what was
 * answered.
 */
export type GroupPost = readonly [vm: string, afterSeconds: number, status: number | null];

/** `sim_0` to `sim_4`. Nothing runs before `start`. */
export class VirtualGroup {
  readonly time: VirtualTime;
  readonly machines: readonly GroupMachine[];
  readonly #first: SimulatedMachine;
  #scheduledMs = 0;

  constructor(t: TestContext, settings: Settings) {
    const { time, machines, first } = simulatedGroup({ vms: Array.from({ length: 5 }, (_, index) => `sim_${index}`) });
    this.time = time;
    this.#first = first;
    this.machines = machines.map((machine) => new GroupMachine(t, machine, time, settings));
  }

  machine(index: number): GroupMachine {
    const machine = this.machines[index];
    if (machine === undefined) throw new RangeError(`no machine ${index}`);
    return machine;
  }

  /** Those of these numbers, all by default; each has read a document then. */
  async start(...indexes: readonly number[]): Promise<void> {
    const wanted = indexes.length === 0 ? this.machines : indexes.map((index) => this.machine(index));
    for (const { bridge } of wanted) await bridge.start();
    await this.advance(2);
  }

  advance(seconds: number): Promise<void> {
    return this.time.advance(seconds * 1000);
  }

  /** An event of all five unless it names others; returns its id. */
  schedule(fields: object = {}): string {
    this.#scheduledMs = this.time.wallMs();
    return this.#first.schedule(fields).EventId;
  }

  change(eventId: string, fields: object): void {
    this.#first.order('PATCH', `/events/${eventId}`, fields);
  }

  /** A message that each bridge reads, at once or when it can. */
  tell(message: object): void {
    for (const machine of this.machines) machine.hears(message);
  }

  /** What one bridge answers to `GET /v1/approvals/EVENT_ID`. */
  async lifeAt(index: number, eventId: string): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await this.machine(index).bridge.request('GET', `/v1/approvals/${eventId}`);
    return body as Readonly<Record<string, unknown>>;
  }

  /** As the service's own journal has them, oldest first. */
  posts(): readonly GroupPost[] {
    const requests = this.#first.simulator.group.journal.requests().filter(({ method }) => method === 'POST');
    return requests.map(({ vm, at, status }) => [vm, (Date.parse(at) - this.#scheduledMs) / 1000, status]);
  }
}
