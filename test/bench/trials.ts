// Programs that tell their deliveries (timed.ts), each beside a metadata service of its own → one change after the other, in turn, and how long each took.
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../support/fake-metadata.ts';
import type { Program } from '../support/program.ts';
import { sharedMs } from './clock.ts';
import { callsOf } from './deliveries.ts';
import { percentile, type Row } from './figures.ts';
import type { Rig } from './rig.ts';

const CHANGES = 300;
const WARM_UP = 100;

/** Milliseconds until the other side has it for good. */
export interface Samples {
  /** From the poll's answer. */
  readonly change: readonly number[];
  /** From the call of the sink, or of the client. */
  readonly delivery: readonly number[];
}

/** Of each program, in their order. */
export async function inTurn(trials: readonly { readonly rig: Rig; readonly program: Program }[]): Promise<readonly Samples[]> {
  const running = trials.map(({ rig, program }) => trial(rig, program));
  await Promise.all(trials.map(({ rig }) => rig.metadata.answered()));
  for (let change = 0; change < WARM_UP + CHANGES; change++) for (const { step } of running) await step(change);
  return running.map(({ samples }) => samples);
}

/** Rows for p50 and p99; `goal` is that of p50. */
export function compared(
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

function trial({ metadata }: Rig, program: Program): { readonly samples: Samples; step(change: number): Promise<void> } {
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
