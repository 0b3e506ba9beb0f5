// A bridge and a bare loop, each with a metadata service → how long each took for every change.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import type { Program } from '../support/program.ts';
import type { Sections } from '../support/running-bridge.ts';
import { BridgeBetween, withFlags } from './bridge-between.ts';
import { sharedMs } from './clock.ts';
import { callsOf } from './deliveries.ts';
import { percentile, type Row } from './figures.ts';

const CHANGES = 300;
const WARM_UP = 100;
const POLL_INTERVAL_MS = 50;

/** Milliseconds until the other side has it for good. */
interface Samples {
  /** From the poll's answer. */
  readonly change: readonly number[];
  /** From the call of the sink, or of the client. */
  readonly delivery: readonly number[];
}

/**
 * `end` names what a delivery waits for. `timed` is the bridge's script; `words` come behind those of bare-turns.ts.
 */
export async function besideBare(
  name: string,
  end: string,
  own: { readonly timed: string; readonly sections: Sections },
  bare: { readonly script: string; readonly words: readonly string[] },
): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  await using bareRig = await BridgeBetween.start();
  const words = [bareRig.metadata.url, join(bareRig.folder, 'written'), String(POLL_INTERVAL_MS), ...bare.words];
  const bridge = trial(
    surroundings,
    surroundings.spawnBridge(`${POLL_INTERVAL_MS}ms`, own.sections, { main: own.timed }),
  );
  const loop = trial(bareRig, bareRig.spawn(withFlags([bare.script, ...words], ['ignore', 'ignore', 'pipe'])));
  await Promise.all([surroundings, bareRig].map(({ metadata }) => metadata.answered()));
  for (let change = 0; change < WARM_UP + CHANGES; change++) for (const { step } of [bridge, loop]) await step(change);
  const send = ['bare send', loop.samples.delivery] as const;
  return [
    ...compared(
      `${name}, change → ${end}`,
      bridge.samples.change,
      [send, ['bare loop', loop.samples.change]],
      '≤ 1.5 × the send',
    ),
    ...compared(`${name}, delivery → ${end}`, bridge.samples.delivery, [send], ''),
  ];
}

/** Rows for p50 and p99; `goal` is that of p50. */
function compared(
  what: string,
  own: readonly number[],
  others: readonly (readonly [name: string, samples: readonly number[]])[],
  goal: string,
): readonly Row[] {
  return (['p50', 'p99'] as const).map((label) => {
    const share = Number(label.slice(1)) / 100;
    const ownMs = percentile(own, share);
    const beside = others.map(([name, samples]) => {
      const ms = percentile(samples, share);
      return `${name} ${ms.toFixed(2)} ms: ${(ownMs / ms).toFixed(1)} ×`;
    });
    const figure = [`${ownMs.toFixed(2)} ms`, ...beside].join(', ');
    return { what: `${what}, ${label} of ${CHANGES}`, figure, goal: label === 'p50' ? goal : '' };
  });
}

function trial(
  { metadata }: BridgeBetween,
  program: Program,
): { readonly samples: Samples; step(change: number): Promise<void> } {
  const samples = { change: [] as number[], delivery: [] as number[] };
  const calls = callsOf(program);
  return {
    samples,
    step: async (change) => {
      const answered = metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
      const { fromMs, toMs } = await calls.next();
      // Past what follows the acceptance, and at another place in the poll's rhythm.
      await pause(10 + (change % 7) * 5);
      if (change < WARM_UP) return;
      samples.change.push(toMs - sharedMs(await answered));
      samples.delivery.push(toMs - fromMs);
    },
  };
}
