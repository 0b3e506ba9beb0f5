// A script and a group's size → each document and status on the way, for two kinds of client.
import assert from 'node:assert/strict';
import type { SimAnswer } from '../../src/simulator/answer.ts';
import { machineNames } from '../../src/simulator/events/machine.ts';
import type { Group } from '../../src/simulator/group.ts';
import type { Script } from '../../src/simulator/script/script.ts';
import { simulatedGroup } from '../virtual/simulated-group.ts';
import { type Document, jsonOf, type SimulatedMachine } from '../virtual/simulation.ts';

/** What became of an event, from its first moment to its last. */
export interface Life {
  readonly eventId: string;
  /** Without repeats. */
  readonly statuses: string[];
  readonly notBefores: string[];
  /** Simulated ms from the script's start. */
  readonly seenAtMs: number;
  startedAtMs: number | null;
  goneAtMs: number | null;
}

/** An answer to a poll. */
export interface Poll {
  readonly atMs: number;
  readonly vm: string;
  readonly answer: SimAnswer;
}

const POLL_MS = 10_000;

/** Polls each machine at each moment at which something falls due, and every 10 s while an event is listed. */
export class ScenarioPlay {
  readonly group: Group;
  readonly lives = new Map<string, Life>();
  readonly polls: Poll[] = [];
  readonly #script: Script;
  readonly #machines: readonly SimulatedMachine[];
  readonly #approves: boolean;
  readonly #url: string;
  readonly #startMs: number;

  constructor(script: Script, options: { vms?: number; approves?: boolean; apiVersion?: string } = {}) {
    const { vms, approves = false, apiVersion = '2024-07-09' } = options;
    const names = machineNames(vms === undefined ? {} : { vms }, script.group);
    this.#script = script;
    this.#approves = approves;
    this.#url = `/metadata/scheduledevents?api-version=${apiVersion}`;
    const { group, machines } = simulatedGroup({ vms: names, gpu: script.group?.gpu ?? false });
    this.group = group;
    this.#machines = machines;
    this.#startMs = this.group.catchUp();
  }

  /** To the end of the script and of its events; of one that begins again, to the end of its first round. */
  run(): this {
    const { everyMs = Number.POSITIVE_INFINITY } = this.#script;
    // A client was there before: it has seen the empty list.
    this.#poll();
    this.group.play(this.#script);
    for (let next: number | null = 0; next !== null && next < everyMs; next = this.#nextMs()) {
      this.group.clock.advance(next - this.nowMs);
      this.group.catchUp();
      this.#look();
      this.#poll();
      this.#look();
    }
    return this;
  }

  /** Since the script's start. */
  get nowMs(): number {
    return this.group.clock.nowMs() - this.#startMs;
  }

  /** The documents that a machine read, each incarnation in a row once. */
  documents(vm: string): readonly Document[] {
    const read = this.polls.filter((poll) => poll.vm === vm && isDocument(poll.answer));
    const documents = read.map(({ answer }) => jsonOf<Document>(answer));
    return documents.filter(
      (document, index) => document.DocumentIncarnation !== documents[index - 1]?.DocumentIncarnation,
    );
  }

  ask(vm: string, apiVersion: string): Document {
    const machine = this.#machines.find(({ name }) => name === vm) ?? assert.fail(`no machine ${vm}`);
    return machine.document(apiVersion);
  }

  #nextMs(): number | null {
    const dueMs = this.group.nextDueMs();
    if (dueMs === null) return null;
    const next = dueMs - this.#startMs;
    const isNear = this.group.events.entries().length > 0 && next - this.nowMs < 3_600_000;
    return isNear ? Math.min(next, this.nowMs + POLL_MS) : next;
  }

  /** All machines read before one of them approves. */
  #poll(): void {
    const read = this.#machines.map((machine) => ({ machine, answer: machine.get(this.#url) }));
    for (const { machine, answer } of read) this.polls.push({ atMs: this.nowMs, vm: machine.name, answer });
    if (!this.#approves) return;
    for (const { machine, answer } of read) {
      const scheduled = isDocument(answer)
        ? jsonOf<Document>(answer).Events.filter(({ EventStatus }) => EventStatus === 'Scheduled')
        : [];
      if (scheduled.length > 0) machine.approve(...scheduled.map(({ EventId }) => EventId));
    }
  }

  #look(): void {
    const listed = new Set<string>();
    for (const { event } of this.group.events.entries()) {
      listed.add(event.EventId);
      const life = this.lives.get(event.EventId) ?? this.#newLife(event.EventId);
      assert.equal(life.goneAtMs, null, `${event.EventId} came back`);
      if (life.statuses.at(-1) !== event.EventStatus) life.statuses.push(event.EventStatus);
      if (life.notBefores.at(-1) !== event.NotBefore) life.notBefores.push(event.NotBefore);
      if (event.EventStatus === 'Started') life.startedAtMs ??= this.nowMs;
    }
    for (const life of this.lives.values()) if (!listed.has(life.eventId)) life.goneAtMs ??= this.nowMs;
  }

  #newLife(eventId: string): Life {
    const life: Life = {
      eventId,
      statuses: [],
      notBefores: [],
      seenAtMs: this.nowMs,
      startedAtMs: null,
      goneAtMs: null,
    };
    this.lives.set(eventId, life);
    return life;
  }
}

/** Not a proxy's page, nothing, or a part. */
function isDocument({ status, headers, body, reset, truncate }: SimAnswer): boolean {
  const isWhole = body.length > 0 && truncate === undefined && !reset;
  return status === 200 && isWhole && headers['content-type']?.startsWith('application/json') === true;
}
