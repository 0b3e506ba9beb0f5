// Standard error of a program that tells its deliveries (timed.ts) → each call of its sink.
import { createInterface } from 'node:readline';
import type { Program } from '../support/program.ts';

/** Moments by the clock that the processes share. */
export interface Call {
  readonly accepted: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** How long the call was at work before it first waited for anything: it makes what it sends. */
  readonly firstTurnMs: number;
}

const LINE = /^deliveries (\d+) from (\S+) to (\S+) first turn (\S+)$/;

/** Of a program that has told of none yet. Calls that nobody took wait. */
export function callsOf(program: Program): { next(): Promise<Call> } {
  const { stderr } = program.child;
  if (stderr === null) throw new Error('its standard error is not read');
  const told: Call[] = [];
  const waiting: ((call: Call) => void)[] = [];
  createInterface(stderr).on('line', (line) => {
    const [found, accepted, from, to, firstTurn] = LINE.exec(line) ?? [];
    if (found === undefined) return;
    const call = { accepted: Number(accepted), fromMs: Number(from), toMs: Number(to), firstTurnMs: Number(firstTurn) };
    const next = waiting.shift();
    if (next) next(call);
    else told.push(call);
  });
  return {
    next: () => {
      const call = told.shift();
      return call === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(call);
    },
  };
}
