// A way to start Node, a number of polls → samples of what the bridge holds, faults of deliveries.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { hook } from '../../support/running-bridge.ts';
import type { Inside } from './inside.ts';
import { addedFaults, alteredBetween, type FaultCounts, judgedDeliveries } from './judged-deliveries.ts';
import type { Mix } from './mix.ts';
import type { Receiver } from './receiver.ts';
import { Scene } from './scene.ts';
import type { Way } from './soaked-bridge.ts';

export interface MonthOptions {
  readonly way: Way;
  readonly mix: Mix;
  readonly polls: number;
  /** `store.retain`: shorter than the warm-up, so that the samples see rows go as fast as they come. */
  readonly retain: string;
  /** The number of polls without a sample, and then from sample to sample. */
  readonly warmUp: number;
  readonly between: number;
  readonly seed: number;
  readonly leakBytes?: number;
  /** Looked at before each sample: false ends the run there. */
  readonly goesOn?: () => boolean;
  readonly onSample?: (sample: Sample) => void;
}

/** What the bridge holds after so many polls, while virtual time stands still. */
export interface Sample extends Inside {
  readonly poll: number;
  readonly storeBytes: number;
  /** Rows that `store.retain` deletes. */
  readonly retainedRows: number;
  /** Rows that are kept for 400 days. */
  readonly rememberedRows: number;
}

export interface Month {
  readonly samples: readonly Sample[];
  readonly maintenances: number;
  readonly polls: number;
  readonly pollsPerSecond: number;
  readonly faults: FaultCounts;
}

const HOOK = '/hook';
const EVENTS_FILE = 'events.jsonl';
const RETAINED = ['journal', 'deliveries', 'delivery_notes', 'discarded', 'drills'];
const REMEMBERED = [
  ...['used_ids', 'occurrences', 'sink_occurrences', 'approvals', 'approval_steps', 'approval_step_counts'],
  ...['handled_messages', 'operator_acts', 'rests'],
];

export async function playedMonth(t: TestContext, options: MonthOptions): Promise<Month> {
  const { mix, polls, warmUp, between, goesOn = () => true, onSample } = options;
  const scene = await Scene.start(t, { ...options, intervalMs: 1000, sinks });
  const samples: Sample[] = [];
  const sinceMs = performance.now();
  for (let poll = warmUp; poll < polls && (poll === warmUp || goesOn()); poll += between) {
    await scene.playTo(poll);
    const sample = await sampleOf(scene);
    samples.push(sample);
    onSample?.(sample);
  }
  const pollsPerSecond = (scene.polls / (performance.now() - sinceMs)) * 1000;
  // Until just before the next maintenance: all that have begun are over.
  const end = Math.min(polls, Math.ceil((scene.polls + 1) / mix.betweenMaintenances) * mix.betweenMaintenances - 1);
  await scene.playTo(end);
  await scene.stop();
  const maintenances = Math.min(scene.maintenances.count, Math.floor(end / mix.betweenMaintenances));
  return { samples, maintenances, polls: end, pollsPerSecond, faults: faultsOf(scene, maintenances) };
}

function sinks(receiver: Receiver, folder: string, round: number): object {
  // Another time limit: each reload gives the sink a new lane.
  const timeout = `${10 + (round % 2)}s`;
  return {
    file: { type: 'file', path: join(folder, EVENTS_FILE) },
    hook: hook(`${receiver.url}${HOOK}`, { mode: 'structured', timeout }),
  };
}

async function sampleOf(scene: Scene): Promise<Sample> {
  const inside = await scene.bridge.inside();
  const { bytes, rows } = scene.store;
  const sum = (tables: readonly string[]) => tables.reduce((total, table) => total + (rows[table] ?? 0), 0);
  return {
    ...inside,
    poll: scene.polls,
    storeBytes: bytes,
    retainedRows: sum(RETAINED),
    rememberedRows: sum(REMEMBERED),
  };
}

/** Those of both sinks. */
function faultsOf(scene: Scene, maintenances: number): FaultCounts {
  const lines = readFileSync(join(scene.folder, EVENTS_FILE), 'utf8').split('\n').slice(0, -1);
  const bodies = scene.receiver.bodiesOf(HOOK);
  const { forbidden, twice } = scene.maintenances;
  return addedFaults(judgedDeliveries(lines, maintenances), judgedDeliveries(bodies, maintenances), {
    altered: alteredBetween(lines, bodies),
    forbidden,
    twice,
  });
}
