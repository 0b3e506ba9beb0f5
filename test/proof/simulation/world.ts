// A history → played with whole bridges in virtual time; all that was seen of them.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Group } from '../../../src/simulator/group.ts';
import { Simulator } from '../../../src/simulator/simulator.ts';
import { Chance } from './chance.ts';
import { type History, machineName, type Step } from './history.ts';
import { Machine } from './machine.ts';
import { listenInMemory } from './memory-network.ts';
import type { ServiceState } from './metadata-link.ts';
import { type Observation, Observations } from './observation.ts';
import { SimulatedTime } from './simulated-time.ts';

/** After the last step: everything works, events end, and what waits for a retry is tried again. A row that is queued has so long. */
const QUIET_MS = 12 * 60_000;
/** Programs may work off a backlog for longer than that, one after the other. This bounds a history that never falls silent. */
const LONGEST_QUIET_MS = 120 * 60_000;
/** Into the quiet time: what is still listed is withdrawn, and dead letters are sent again. */
const WITHDRAWN_MS = 4 * 60_000;
const RETRIED_MS = 5 * 60_000;
/** It is over if nothing new is seen for three times `settle` and so long, and no row is queued. Blindness takes less. */
const SILENT_MS = 70_000;
const LOOK_MS = 10_000;
/** In memory, where there is one: a store that is on a disk waits for it, and each start flushes files. */
const MEMORY = '/dev/shm';

export interface Played {
  readonly history: History;
  readonly observations: readonly Observation[];
  readonly digest: string;
  readonly kills: number;
  /** By machine, as its instance metadata has it. */
  readonly resourceIds: readonly string[];
}

/** For processes that do nothing else: listeners of this process are in memory from now on. */
export async function play(history: History): Promise<Played> {
  listenInMemory();
  const root = realpathSync(mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'bridge-proof-')));
  try {
    return await new World(history, root).play();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

class World {
  readonly #history: History;
  readonly #time: SimulatedTime;
  readonly #observations = new Observations();
  readonly #service: ServiceState = { offset: 0, emptyUntilMs: 0 };
  readonly #group: Group;
  readonly #machines: readonly Machine[];
  /** EventIds by the names that steps use. */
  readonly #eventIds = new Map([['*', '*']]);
  #posts = 0;
  #requests = 0;
  #messages = 0;

  constructor(history: History, root: string) {
    this.#history = history;
    const seed = `${history.seed} ${history.world}`;
    const time = new SimulatedTime(history.startMs);
    this.#time = time;
    const vms = Array.from({ length: history.machines }, (_, index) => machineName(index));
    const { wallMs, elapsedMs } = time;
    this.#group = new Group({ deps: { wallMs, elapsedMs, random: new Chance(seed, 'service').next }, vms });
    const [settings] = history.settings;
    if (settings === undefined) throw new Error('a history has settings');
    this.#machines = this.#group.machines.map((machine, index) => {
      const folder = join(root, `machine-${index}`);
      mkdirSync(folder, { mode: 0o700 });
      return new Machine({
        ...{ index, seed, time, settings, root: folder },
        simulator: new Simulator(this.#group, machine),
        service: this.#service,
        observations: this.#observations,
        nextPost: () => this.#posts++,
      });
    });
  }

  async play(): Promise<Played> {
    for (const machine of this.#machines) await machine.start();
    for (const step of this.#history.steps) {
      await this.#time.advanceTo(step.atMs);
      this.#do(step);
      // What it began has its turns before virtual time goes on.
      await this.#time.settle();
    }
    await this.#quieten();
    const kills = this.#machines.reduce((sum, machine) => sum + machine.kills, 0);
    const digest = this.#observations.digest();
    const observations = [...this.#observations.all];
    const ended = Promise.all(this.#machines.map((machine) => machine.end()));
    await this.#time.advanceTo(this.#time.nowMs + 60_000);
    await ended;
    return { history: this.#history, observations, digest, kills, resourceIds: this.#resourceIds() };
  }

  async #quieten(): Promise<void> {
    const begunMs = this.#time.nowMs;
    for (const machine of this.#machines) machine.heal();
    const sinks = new Set(this.#history.settings.flatMap((settings) => Object.keys(settings.sinks)));
    // What was down for long starts again.
    await this.#time.advanceTo(begunMs + 2 * 60_000);
    for (const machine of this.#machines)
      for (const sink of sinks) void machine.ask('POST', `/v1/sinks/${sink}/resume`, 'operator', {});
    await this.#time.advanceTo(begunMs + WITHDRAWN_MS);
    this.#group.catchUp();
    this.#group.events.withdraw(this.#time.wallMs());
    await this.#time.advanceTo(begunMs + RETRIED_MS);
    await this.#untilSilent(begunMs + LONGEST_QUIET_MS);
  }

  async #untilSilent(endMs: number): Promise<void> {
    const settle = this.#history.settings[0]?.metadata.settle ?? '60s';
    const silentMs = 3 * Number.parseInt(settle, 10) * 1000 + SILENT_MS;
    const isOver = () => {
      const sinceMs = this.#time.nowMs - this.#observations.newsMs;
      return sinceMs >= (this.#machines.every((machine) => machine.isIdle) ? silentMs : QUIET_MS);
    };
    while (this.#time.nowMs < endMs && !isOver())
      await this.#time.advanceTo(Math.min(this.#time.nowMs + LOOK_MS, endMs));
  }

  #do(step: Step): unknown {
    switch (step.do) {
      case 'schedule':
        this.#eventIds.set(step.event, step.id);
        return this.#order('POST', '', { EventId: step.id, ...step.fields });
      case 'change':
        return this.#order('PATCH', `/${this.#eventIds.get(step.event)}`, step.fields);
      case 'cancel':
      case 'start':
      case 'end':
        return this.#order('POST', `/${this.#eventIds.get(step.event)}/${step.do}`);
      case 'service-restart':
        this.#service.offset = this.#group.events.view.incarnation - 2;
        this.#service.emptyUntilMs = this.#time.nowMs + step.emptyMs;
        return null;
      case 'tell':
        return this.#tell(step);
      default: {
        const machine = this.#machines[step.machine];
        return machine && this.#doAt(machine, step);
      }
    }
  }

  #doAt(machine: Machine, step: Extract<Step, { readonly machine: number }>): unknown {
    switch (step.do) {
      case 'metadata':
        return machine.link.fault(step.fault, step.forMs);
      case 'sink':
        return machine.farSides.trouble(step.sink, step.trouble, step.forMs);
      case 'kill':
        return machine.kill(step.downMs);
      case 'kill-at':
        return machine.killAt(step.moment, step.nth, step.downMs);
      case 'stop':
        return machine.stop(step.downMs);
      case 'freeze':
        return machine.freeze(step.forMs);
      case 'jump':
        return machine.jump(step.byMs);
      case 'disk-full':
        return machine.fillDisk(step.forMs);
      case 'disk-full-at':
        return machine.fillDiskAt(step.moment, step.forMs);
      case 'ask':
        return this.#ask(machine, step);
      case 'settings': {
        const settings = this.#history.settings[step.use];
        return settings && machine.reload(settings);
      }
      case 'drill':
        return void machine.ask('POST', '/v1/drills', 'operator', {});
      case 'command': {
        const path = step.act === 'retry' ? '/v1/dead-letters/retry' : `/v1/sinks/${step.sink}/${step.act}`;
        return void machine.ask('POST', path, 'operator', step.act === 'retry' ? { sink: step.sink } : {});
      }
    }
  }

  #resourceIds(): readonly string[] {
    const url = '/metadata/instance?api-version=2021-02-01';
    return this.#group.machines.map((machine) => {
      const request = { method: 'GET', url, headers: { Metadata: 'true' }, body: new Uint8Array() };
      const answer = new Simulator(this.#group, machine).handle(request);
      return (JSON.parse(new TextDecoder().decode(answer.body)) as { compute: { resourceId: string } }).compute
        .resourceId;
    });
  }

  #order(method: string, path: string, body?: object): void {
    const simulator = new Simulator(this.#group, this.#group.first);
    const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body));
    simulator.handle({ method, url: `/simulator/events${path}`, headers: {}, body: bytes });
  }

  #ask(machine: Machine, { as, act, event, seen }: Extract<Step, { readonly do: 'ask' }>): void {
    const eventId = this.#eventIds.get(event);
    if (eventId === undefined || !machine.isRunning) return;
    const request = this.#requests++;
    const seenId = seen ? this.#newestNotice(machine, eventId) : null;
    machine.see({ kind: 'request', request, as, act, event: eventId, seen: seenId });
    const answer =
      act === 'release'
        ? machine.ask('DELETE', `/v1/holds/${eventId}`, as)
        : act === 'hold'
          ? machine.ask('POST', '/v1/holds', as, { EventId: eventId, reason: 'the test says so' })
          : machine.ask('POST', '/v1/approvals', as, {
              StartRequests: [{ EventId: eventId, ...(seenId !== null && { Seen: seenId }) }],
            });
    void answer.then((reply) =>
      machine.see({ kind: 'reply', request, status: reply?.status ?? null, body: reply?.body ?? null }),
    );
  }

  /** The id of the newest `scheduled` or `updated` of this event that a consumer of this machine has. */
  #newestNotice(machine: Machine, eventId: string): string | null {
    const index = this.#machines.indexOf(machine);
    const key = eventId.toLowerCase();
    const found = this.#observations.all.findLast(
      (seen) =>
        seen.kind === 'arrival' &&
        seen.machine === index &&
        seen.partitionKey === key &&
        /:(scheduled|updated)(:|$)/.test(seen.id),
    );
    return found?.kind === 'arrival' ? found.id : null;
  }

  #tell({ act, event }: Extract<Step, { readonly do: 'tell' }>): void {
    const EventId = this.#eventIds.get(event);
    if (EventId === undefined) return;
    const message =
      act === 'approve'
        ? { StartRequests: [{ EventId }] }
        : act === 'hold'
          ? { Holds: [{ EventId, reason: 'the desk says so' }] }
          : { Releases: [{ EventId }] };
    for (const machine of this.#machines) {
      const id = `${this.#messages++}`;
      machine.see({ kind: 'told', act, event: EventId, message: id });
      machine.clock.run(() => machine.topic.send(message, { id }));
    }
  }
}
