// A seed and the number of a history → its counts, its digest and what the oracles found.
import { type History, scheduledIn } from './history.ts';
import type { Finding } from './oracle/finding.ts';
import { judge } from './oracle/judge.ts';
import { plannedHistory } from './plan.ts';
import { shortened } from './shorten.ts';
import { play } from './world.ts';

/** About a minute and a half, for a history of two machines. */
const MOST_PLAYS = 200;

export interface JudgedWorld {
  readonly world: number;
  readonly maintenances: number;
  readonly kills: number;
  readonly digest: string;
  readonly findings: readonly Finding[];
}

export async function judgedWorld(seed: number, world: number): Promise<JudgedWorld> {
  const history = plannedHistory(seed, world);
  const played = await play(history);
  return {
    world,
    maintenances: scheduledIn(history),
    kills: played.kills,
    digest: played.digest,
    findings: judge(played),
  };
}

/** The shortest history found that still has a finding of the same kind as the first one of this. */
export async function shortestHistory(history: History): Promise<{
  readonly history: History;
  readonly findings: readonly Finding[];
}> {
  const findingsOf = async (tried: History) => judge(await play(tried));
  const [first] = await findingsOf(history);
  if (first === undefined) return { history, findings: [] };
  const isFaulty = async (tried: History) => (await findingsOf(tried)).some(({ fault }) => fault === first.fault);
  const shortest = await shortened(history, isFaulty, MOST_PLAYS);
  return { history: shortest, findings: await findingsOf(shortest) };
}
