// A number of machines and a configuration → their bridges in one process and in virtual time.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Group } from '../../../src/simulator/group.ts';
import { Simulator } from '../../../src/simulator/simulator.ts';
import { Chance } from '../simulation/chance.ts';
import { type EventOrder, machineName, type Settings } from '../simulation/history.ts';
import { Machine } from '../simulation/machine.ts';
import { type Observation, Observations } from '../simulation/observation.ts';
import { SimulatedTime } from '../simulation/simulated-time.ts';

/** Bridges of a fleet start at any time, so each polls at its own moment within the second. */
const POLL_MS = 1000;

export interface FleetGroupOptions {
  readonly seed: string;
  readonly machines: number;
  readonly settings: Settings;
  /** A folder of its own. */
  readonly root: string;
}

/** For processes whose listeners are in memory. Nothing runs before `start`. */
export class FleetGroup {
  readonly startMs = Date.UTC(2026, 0, 1);
  readonly machines: readonly Machine[];
  readonly #time = new SimulatedTime(this.startMs);
  readonly #observations = new Observations();
  readonly #group: Group;
  readonly #chance: Chance;
  #posts = 0;

  constructor({ seed, machines, settings, root }: FleetGroupOptions) {
    const time = this.#time;
    const { wallMs, elapsedMs } = time;
    const vms = Array.from({ length: machines }, (_, index) => machineName(index));
    this.#chance = new Chance(seed, 'starts');
    this.#group = new Group({ deps: { wallMs, elapsedMs, random: new Chance(seed, 'service').next }, vms });
    const service = { offset: 0, emptyUntilMs: 0 };
    this.machines = this.#group.machines.map((machine, index) => {
      const folder = join(root, `machine-${index}`);
      mkdirSync(folder, { mode: 0o700 });
      return new Machine({
        ...{ index, seed, time, settings, service, root: folder },
        simulator: new Simulator(this.#group, machine),
        observations: this.#observations,
        nextPost: () => this.#posts++,
      });
    });
  }

  get nowMs(): number {
    return this.#time.nowMs;
  }

  get observations(): readonly Observation[] {
    return this.#observations.all;
  }

  /** Each within the same second, and each has read a document then. */
  async start(): Promise<void> {
    for (const machine of this.machines) this.#time.after(this.#chance.between(0, POLL_MS), () => void machine.start());
    await this.advance(5 * POLL_MS);
  }

  async advance(ms: number): Promise<void> {
    await this.#time.advanceTo(this.#time.nowMs + ms);
  }

  schedule(EventId: string, fields: EventOrder): void {
    this.#order('POST', '', { EventId, ...fields });
  }

  change(eventId: string, fields: EventOrder): void {
    this.#order('PATCH', `/${eventId}`, fields);
  }

  /** An approver's yes in a topic that each running bridge reads. */
  approve(EventId: string): void {
    for (const machine of this.machines) {
      if (!machine.isRunning) continue;
      machine.see({ kind: 'told', act: 'approve', event: EventId, message: EventId });
      machine.clock.run(() => machine.topic.send({ StartRequests: [{ EventId }] }));
    }
  }

  /** In the order in which they read the next document. */
  byNextPoll(): readonly number[] {
    const lastMs = this.machines.map((_, machine) => this.#lastPollMs(machine));
    const nextMs = (machine: number) => (lastMs[machine] ?? 0) + POLL_MS;
    return this.machines.map((_, machine) => machine).sort((one, other) => nextMs(one) - nextMs(other));
  }

  /** The lower-case ARM ids of the machines, as their instance metadata have them. */
  resourceIds(): readonly string[] {
    const url = '/metadata/instance?api-version=2021-02-01';
    return this.#group.machines.map((machine) => {
      const request = { method: 'GET', url, headers: { Metadata: 'true' }, body: new Uint8Array() };
      const answer = new Simulator(this.#group, machine).handle(request);
      const { compute } = JSON.parse(new TextDecoder().decode(answer.body)) as { compute: { resourceId: string } };
      return compute.resourceId.toLowerCase();
    });
  }

  digest(): string {
    return this.#observations.digest();
  }

  /** Kills all, and waits until nothing is left of them. */
  async end(): Promise<void> {
    const ended = Promise.all(this.machines.map((machine) => machine.end()));
    await this.advance(60_000);
    await ended;
  }

  #order(method: string, path: string, fields: object): void {
    const simulator = new Simulator(this.#group, this.#group.first);
    const body = new TextEncoder().encode(JSON.stringify(fields));
    simulator.handle({ method, url: `/simulator/events${path}`, headers: {}, body });
  }

  #lastPollMs(machine: number): number {
    return this.observations.findLast((seen) => seen.kind === 'document' && seen.machine === machine)?.atMs ?? 0;
  }
}
