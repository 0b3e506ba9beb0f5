// A month in which two sinks are a black hole → what it costs, and what comes when they are back.
// One sink retries for as long as the month lasts; the other one gives up, by default after 24 h.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { hook } from '../../support/running-bridge.ts';
import type { Inside } from './inside.ts';
import { addedFaults, type FaultCounts, judgedDeliveries } from './judged-deliveries.ts';
import type { Mix } from './mix.ts';
import { Scene, type SceneOptions } from './scene.ts';
import type { Way } from './soaked-bridge.ts';
import type { Queue } from './store-size.ts';

export interface OutageOptions {
  readonly way: Way;
  readonly mix: Mix;
  readonly polls: number;
  readonly retain: string;
  /** `retry.maxAge` of the sink that gives up. */
  readonly givesUpAfter: string;
  readonly seed: number;
}

interface Held {
  readonly inside: Inside;
  /** Without the log of the database, which has some 4 MiB. */
  readonly storeBytes: number;
}

export interface CatchUp {
  readonly deliveries: number;
  /** Virtual time from the return to the first delivery, at most. */
  readonly firstAfterSeconds: number;
  /** Real time from the first to the last delivery. */
  readonly seconds: number;
}

export interface Outage {
  readonly days: number;
  readonly maintenances: number;
  /** Before the outage, at its end, and after all was delivered. */
  readonly before: Held;
  readonly atReturn: Held;
  readonly after: Held;
  readonly patient: Queue;
  readonly usual: Queue;
  readonly patientCatchUp: CatchUp;
  readonly usualCatchUp: CatchUp;
  /** After an operator has queued the dead letters again. */
  readonly deadLetters: CatchUp;
  readonly faults: FaultCounts;
}

const INTERVAL_MS = 30_000;
const POLLS_A_DAY = 86_400_000 / INTERVAL_MS;
/** An hour: twelve times the longest back-off. */
const PATIENCE_POLLS = 120;
/** Of one request. */
const MOST_IDS = 1000;
const FILE = 'events.jsonl';
const PATHS = { patient: '/patient', usual: '/usual' } as const;
type Sink = keyof typeof PATHS;

export async function playedOutage(t: TestContext, options: OutageOptions): Promise<Outage> {
  const { mix, polls, givesUpAfter } = options;
  const scene = await Scene.start(t, { ...options, intervalMs: INTERVAL_MS, sinks: sinksOf(givesUpAfter) });
  const from = 2 * mix.betweenMaintenances - 1;
  await scene.playTo(from);
  const before = await heldBy(scene);
  for (const path of Object.values(PATHS)) scene.receiver.away.add(path);
  await scene.bridge.away(Object.keys(PATHS));
  await scene.playTo(polls);
  const atReturn = await heldBy(scene);
  const [patient, usual] = [scene.queueOf('patient'), scene.queueOf('usual')];
  scene.receiver.away.clear();
  await scene.bridge.away([]);
  const { patient: patientCatchUp, usual: usualCatchUp } = await caughtUp(scene);
  const usualFrom = scene.receiver.bodiesOf(PATHS.usual).length;
  const { usual: deadLetters } = await caughtUp(scene, () => retryDeadLetters(scene));
  const after = await heldBy(scene);
  await scene.stop();
  return {
    ...{ days: (polls - from) / POLLS_A_DAY, maintenances: scene.maintenances.count, before, atReturn, after },
    ...{ patient, usual, patientCatchUp, usualCatchUp, deadLetters },
    faults: faultsOf(scene, usualFrom),
  };
}

function sinksOf(maxAge: string): SceneOptions['sinks'] {
  return (receiver, folder) => ({
    file: { type: 'file', path: join(folder, FILE) },
    patient: hook(`${receiver.url}${PATHS.patient}`, { mode: 'structured', retry: { maxAge: '60d' } }),
    usual: hook(`${receiver.url}${PATHS.usual}`, { mode: 'structured', retry: { maxAge } }),
  });
}

async function heldBy(scene: Scene): Promise<Held> {
  return { inside: await scene.bridge.inside(), storeBytes: scene.store.pageBytes };
}

/**
 * @param begin queues more, some of which is delivered before it resolves
 * @throws Error if a queue is not empty after an hour of virtual time
 */
async function caughtUp(
  scene: Scene,
  begin: () => Promise<void> = async () => {},
): Promise<Readonly<Record<Sink, CatchUp>>> {
  const sinks = Object.keys(PATHS) as Sink[];
  const fromPoll = scene.polls;
  const counts = () => sinks.map((sink) => scene.receiver.bodiesOf(PATHS[sink]).length);
  const before = counts();
  await begin();
  const silentUntil = before.map(() => fromPoll);
  while (sinks.some((sink) => scene.queueOf(sink).queued > 0)) {
    if (scene.polls - fromPoll > PATIENCE_POLLS)
      throw new Error(
        `still queued an hour after the return: ${sinks.map((sink) => `${sink} ${scene.queueOf(sink).queued}`).join(', ')}`,
      );
    await scene.playTo(scene.polls + 1);
    for (const [index, count] of counts().entries()) if (count === before[index]) silentUntil[index] = scene.polls;
  }
  const catchUp = (sink: Sink, index: number): CatchUp => {
    const [from = 0, to = 0] = [before[index], counts()[index]];
    const firstAfterSeconds = (((silentUntil[index] ?? 0) + 1 - fromPoll) * INTERVAL_MS) / 1000;
    return { deliveries: to - from, firstAfterSeconds, seconds: scene.receiver.secondsBetween(PATHS[sink], from, to) };
  };
  return Object.fromEntries(sinks.map((sink, index) => [sink, catchUp(sink, index)])) as Record<Sink, CatchUp>;
}

/** What an operator does: all that the file has and the sink has not. */
async function retryDeadLetters(scene: Scene): Promise<void> {
  const came = new Set(idsOf(scene.receiver.bodiesOf(PATHS.usual)));
  const missing = idsOf(linesOf(scene)).filter((id) => !came.has(id));
  for (let at = 0; at < missing.length; at += MOST_IDS) {
    const ids = missing.slice(at, at + MOST_IDS);
    await scene.callers.ask('POST', '/v1/dead-letters/retry', { sink: 'usual', ids });
  }
}

function idsOf(bodies: readonly string[]): readonly string[] {
  return bodies.map((body) => (JSON.parse(body) as { id: string }).id);
}

function linesOf(scene: Scene): readonly string[] {
  return readFileSync(join(scene.folder, FILE), 'utf8').split('\n').slice(0, -1);
}

/** Dead letters that are queued again come after newer changes of their event; among themselves they keep their order. */
function faultsOf(scene: Scene, usualFrom: number): FaultCounts {
  const { count, forbidden, twice } = scene.maintenances;
  const usual = scene.receiver.bodiesOf(PATHS.usual);
  const orderOf = (bodies: readonly string[]) => ({ misordered: judgedDeliveries(bodies, count).misordered ?? 0 });
  return addedFaults(
    judgedDeliveries(linesOf(scene), count),
    judgedDeliveries(scene.receiver.bodiesOf(PATHS.patient), count),
    { ...judgedDeliveries(usual, count), misordered: 0 },
    orderOf(usual.slice(0, usualFrom)),
    orderOf(usual.slice(usualFrom)),
    { forbidden, twice },
  );
}
