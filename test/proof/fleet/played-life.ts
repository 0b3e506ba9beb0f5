// A life of a group → played with whole bridges in virtual time, judged and measured.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chance, guidOf } from '../simulation/chance.ts';
import { machineName } from '../simulation/history.ts';
import { listenInMemory } from '../simulation/memory-network.ts';
import { judge } from '../simulation/oracle/judge.ts';
import { FleetGroup } from './fleet-group.ts';
import {
  type Consumed,
  type Copy,
  consumed,
  copiesOf,
  type GroupFinding,
  judgeIds,
  judgeStarts,
} from './group-judge.ts';
import { byRank, FAILOVER_MS, type Life, type Play, settingsOf } from './life.ts';

const SECOND_MS = 1000;
/** From the listing to a change of the event, and to the approver's yes: every bridge has read it then. */
const CHANGED_MS = 2.5 * SECOND_MS;
const APPROVED_MS = 5 * SECOND_MS;
const STARTED_FOR_S = 10;
/** After the start: the event has ended, and every bridge has told so. */
const REST_MS = 25 * SECOND_MS;

export interface PlayedEvent extends Consumed {
  readonly play: Play;
  readonly startRequests: number;
  /** From the approver's yes to the accepted StartRequest; null if there was none. */
  readonly startAfterMs: number | null;
  /** From the listing to the `scheduled` of each machine that lived, in their order. */
  readonly copiesMs: readonly { readonly machine: number; readonly ms: number }[];
}

export interface PlayedLife {
  readonly life: Life;
  readonly events: readonly PlayedEvent[];
  readonly findings: readonly GroupFinding[];
  readonly kills: number;
  readonly digest: string;
  /** All that the machines delivered of the first event. */
  readonly traffic: readonly Copy[];
}

/** For processes that do nothing else: listeners of this process are in memory from now on. */
export async function playLife(life: Life): Promise<PlayedLife> {
  listenInMemory();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-fleet-')));
  try {
    return await new PlayingLife(life, root).play();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

class PlayingLife {
  readonly #life: Life;
  readonly #group: FleetGroup;
  readonly #findings: GroupFinding[] = [];
  #traffic: readonly Copy[] = [];

  constructor(life: Life, root: string) {
    const { machines } = life;
    this.#life = life;
    this.#group = new FleetGroup({ seed: this.#seed, machines, settings: settingsOf(life), root });
  }

  async play(): Promise<PlayedLife> {
    const group = this.#group;
    await group.start();
    const events: PlayedEvent[] = [];
    for (const [number, each] of this.#life.plays.entries()) events.push(await this.#event(number, each));
    const digest = group.digest();
    this.#judgeMachines();
    const kills = group.machines.reduce((sum, machine) => sum + machine.kills, 0);
    await group.end();
    return { life: this.#life, events, findings: this.#findings, kills, digest, traffic: this.#traffic };
  }

  async #event(number: number, play: Play): Promise<PlayedEvent> {
    const group = this.#group;
    const chance = new Chance(this.#seed, 'event', number);
    const ranks = byRank(play.named);
    // The service lists it at any moment, compared with the polls.
    await group.advance(chance.between(SECOND_MS, 2 * SECOND_MS));
    const listedMs = group.nowMs;
    const seenBefore = group.observations.length;
    const eventId = guidOf(this.#seed, number);
    const dead = this.#deadOf(play, ranks, chance);
    const survivors = ranks.filter((machine) => !dead.has(machine));
    const dying = play.posterDiesAt === null ? null : (survivors[0] ?? null);
    const posters = play.posterDiesAt === 'post' ? survivors.slice(1) : survivors;
    const turnMs = (machine: number | undefined) => ranks.indexOf(machine ?? 0) * FAILOVER_MS;
    const overMs = APPROVED_MS + turnMs(posters[0]) + REST_MS;
    for (const machine of dead) group.machines[machine]?.kill(overMs);
    if (play.posterDiesAt && dying !== null)
      group.machines[dying]?.killAt(play.posterDiesAt, 1, overMs - APPROVED_MS - turnMs(dying));
    group.schedule(eventId, {
      ...{ EventType: 'Reboot', EventSource: 'Platform', notice: '15m', startedFor: `${STARTED_FOR_S}s` },
      Resources: ranks.map(machineName),
      Description: 'Host server is undergoing maintenance.',
    });
    await group.advance(CHANGED_MS);
    group.change(eventId, { DurationInSeconds: 30 });
    await group.advance(APPROVED_MS - CHANGED_MS);
    const approvedMs = group.nowMs;
    group.approve(eventId);
    await group.advance(overMs + FAILOVER_MS - APPROVED_MS);
    const seen = group.observations.slice(seenBefore);
    const copies = copiesOf(seen, eventId);
    if (number === 0) this.#traffic = copies;
    const { submit } = this.#life;
    this.#findings.push(...judgeStarts(seen, eventId, { submit, posters }), ...judgeIds(copies, eventId));
    const accepted = seen.filter((each) => each.kind === 'accepted' && each.eventIds.includes(eventId));
    const told = copies.filter(({ id, machine }) => id.endsWith(':scheduled') && !dead.has(machine));
    return {
      ...{ play, ...consumed(copies) },
      startRequests: accepted.length,
      startAfterMs: accepted[0] ? accepted[0].atMs - approvedMs : null,
      copiesMs: told.map(({ machine, atMs }) => ({ machine, ms: atMs - listedMs })),
    };
  }

  #deadOf({ dead: { which, count } }: Play, ranks: readonly number[], chance: Chance): ReadonlySet<number> {
    const group = this.#group;
    const order = () => {
      if (which === 'first ranks') return ranks;
      if (which === 'fastest') return group.byNextPoll();
      const keys = new Map(group.machines.map((_, machine) => [machine, chance.next()]));
      return [...keys.keys()].sort((one, other) => (keys.get(one) ?? 0) - (keys.get(other) ?? 0));
    };
    const dead = new Set(order().slice(0, count));
    // Somebody has to be left who may post.
    for (const machine of ranks.slice(-2)) if (ranks.every((rank) => dead.has(rank))) dead.delete(machine);
    return dead;
  }

  /** Each machine by itself, by the oracles of the simulation. */
  #judgeMachines(): void {
    const { seed, machines } = this.#life;
    const { startMs, observations } = this.#group;
    const history = { seed, world: 0, machines, startMs, settings: [settingsOf(this.#life)], steps: [] };
    const found = judge({ history, observations, resourceIds: this.#group.resourceIds() });
    for (const { fault, machine, what } of found) this.#findings.push({ fault, what: `machine ${machine}: ${what}` });
  }

  get #seed(): string {
    return `fleet ${this.#life.seed} ${this.#life.name}`;
  }
}
