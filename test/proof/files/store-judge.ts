// What others saw, and a store after a crash → it has all, and the next start continues.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { Simulation } from '../../virtual/simulation.ts';
import { VirtualBridge } from '../../virtual/virtual-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { expect, expectAll } from '../found-fault.ts';
import { BEGIN_MS, END_MS, keysFrom, playMaintenances, SINKS } from './maintenances.ts';

/** Relative to the folder of a recording. */
export const STORE = 'var/lib/store';

/** A CloudEvent that reached a sink. */
interface Arrival {
  readonly sink: string;
  readonly key: string;
  readonly id: string;
  readonly hash: string;
}

export function arrivalsIn(said: readonly string[]): readonly Arrival[] {
  return said.flatMap((words) => {
    const [what, sink = '', key = '', id = '', hash = ''] = words.split(' ');
    return what === 'arrived' ? [{ sink, key, id, hash }] : [];
  });
}

const postsIn = (said: readonly string[]): readonly string[] =>
  said.flatMap((words) => (words.startsWith('posted ') ? [words.slice('posted '.length).toLowerCase()] : []));

/** Nothing that others have seen is missing in the store: it was flushed before it was sent. */
export function expectStored(folder: string, said: readonly string[]): void {
  const store = join(folder, STORE);
  using outbox = openOutbox(store, { deps: new VirtualTime(), lock: true, synchronous: 'OFF' });
  using database = new DatabaseSync(join(store, 'outbox.db'));
  assert.deepEqual(database.prepare('PRAGMA integrity_check').all().map(Object.values), [['ok']]);
  const rows = database.prepare('SELECT id, bytes FROM journal').all() as { id: string; bytes: Uint8Array }[];
  const hashes = new Map(rows.map(({ id, bytes }) => [id, hashOf(bytes)]));
  for (const { id, hash } of arrivalsIn(said)) {
    expect(hashes.has(id), 'lost', `${id} was sent and is not stored`);
    expect(hashes.get(id) === hash, 'altered', `${id} was sent with other bytes than those that are stored`);
  }
  for (const key of postsIn(said)) {
    const { occurrence = 0 } = outbox.known.lastOccurrence(key) ?? {};
    const { decision } = outbox.approvals.of(occurrence) ?? {};
    expect(decision, 'lost', `${key} was approved and the store has no decision`);
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex').slice(0, 12);
}

/**
 * Starts a bridge on what is left, when the crash was, and runs it to the end. Returns all that others see of both.
 * @throws what the start throws
 */
export function resume(folder: string, said: readonly string[]): Promise<readonly string[]> {
  return play(folder, said, async (bridge) => {
    await bridge.startFor(END_MS - bridge.time.wallMs());
    await bridge.stop();
  });
}

/** Leaves a store as of that moment, with its log if the bridge is killed. Returns what others have seen. */
export function interrupt(folder: string, atMs: number, how: 'stop' | 'kill'): Promise<readonly string[]> {
  return play(folder, [], async (bridge) => {
    await bridge.startFor(atMs - bridge.time.wallMs());
    await bridge[how]();
    if (how === 'kill') cpSync(bridge.folder, join(folder, STORE), { recursive: true });
  });
}

async function play(
  folder: string,
  said: readonly string[],
  run: (bridge: VirtualBridge) => Promise<void>,
): Promise<readonly string[]> {
  const hooks: (() => unknown)[] = [];
  const context = { after: (hook: () => unknown) => void hooks.push(hook) } as unknown as TestContext;
  const last = said.findLast((words) => words.startsWith('at '));
  const simulation = new Simulation({ startMs: last === undefined ? BEGIN_MS : Number(last.slice('at '.length)) });
  const bridge = new VirtualBridge(context, {}, { machine: { simulation, clocks: simulation.time } });
  bridge.folder = join(folder, STORE);
  const all = [...said];
  playMaintenances(bridge, (words) => void all.push(words));
  try {
    await run(bridge);
  } finally {
    for (const hook of hooks) await hook();
  }
  return all;
}

/** @param said of a run with a crash @param usual of one without */
export function expectSame(said: readonly string[], usual: readonly string[]): void {
  expectUnaltered(said);
  expectChanges(said, usual);
  expectPosts(said, usual);
}

export function expectUnaltered(said: readonly string[]): void {
  const hashes = new Map<string, string>();
  for (const { id, hash } of arrivalsIn(said)) {
    expect(hash === (hashes.get(id) ?? hash), 'altered', `${id} came again with other bytes`);
    hashes.set(id, hash);
  }
}

function expectChanges(said: readonly string[], usual: readonly string[]): void {
  for (const sink of SINKS) {
    const [found, wanted] = [changesAt(sink, said), changesAt(sink, usual)];
    expectAll(Object.keys(found), Object.keys(wanted), `events at ${sink}`);
    for (const [key, ids] of Object.entries(wanted)) expectAll(found[key] ?? [], ids, `changes of ${key} at ${sink}`);
  }
}

/** By event, the ids of its changes in the order of their first arrival. */
function changesAt(sink: string, said: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const arrivals = arrivalsIn(said).filter((each) => each.sink === sink && !each.id.includes(':approval-'));
  const keys = [...new Set(arrivals.map(({ key }) => key))].sort();
  return Object.fromEntries(
    keys.map((key) => [key, [...new Set(arrivals.filter((each) => each.key === key).map(({ id }) => id))]]),
  );
}

/** Each event is approved, and again only if the crash came before the answer was stored. */
function expectPosts(said: readonly string[], usual: readonly string[]): void {
  const sorted = (words: readonly string[]) => [...new Set(postsIn(words))].sort();
  expectAll(sorted(said), sorted(usual), 'StartRequests', { added: 'forbidden' });
  const answered = new Set<string>();
  for (const words of said) {
    const [key] = postsIn([words]);
    const isAgain = key !== undefined && answered.has(key);
    expect(!isAgain, 'twice', `${key} was approved again after its answer was stored`);
    for (const arrival of arrivalsIn([words]))
      if (arrival.id.includes(':approval-submitted')) answered.add(arrival.key);
  }
}

/** Each change of an event is one that a bridge without faults sends, too. */
export function expectNothingNew(said: readonly string[], usual: readonly string[]): void {
  const known = new Set(arrivalsIn(usual).map(({ id }) => id));
  const invented = arrivalsIn(said).filter(({ id }) => !known.has(id) && !id.includes(':approval-'));
  expect(invented.length === 0, 'invented', JSON.stringify(invented));
}

/** As `expectSame`, for the events that came at or after this moment. Others may have come and gone unseen. */
export function expectRest(said: readonly string[], usual: readonly string[], fromMs: number): void {
  expectUnaltered(said);
  expectNothingNew(said, usual);
  const rest = (words: readonly string[]) => words.filter((each) => keysFrom(fromMs).some((key) => each.includes(key)));
  expectChanges(rest(said), rest(usual));
}
