// Part 10 of the proof: what a fleet sends for one event, what a receiver bears, and who posts.
import { createHash } from 'node:crypto';
import { type Counts, FAULTS, type Fault, NOTHING, type Part, type ProofOptions } from '../part.ts';
import { replaysOf, simulatedHerdsOf, withoutKafka } from './herds.ts';
import { livesOf } from './lives.ts';
import { playLives } from './play-lives.ts';
import type { PlayedLife } from './played-life.ts';
import { type Replay, replay } from './replay.ts';
import { replayed } from './replayed.ts';
import { type SimulatedHerd, simulatedHerd } from './simulated-herd.ts';
import { azureLine, herdLine, lifeLines, replayLine } from './told-figures.ts';

/** Of what was found wrong, so much is printed. */
const MOST_TOLD = 10;

/** Its work follows from the seed and the profile alone: with `minutes` it runs once, too. */
export const fleet: Part = {
  name: 'fleet',
  run: async (options) => {
    const lives = await playLives(livesOf(options), options.jobs);
    for (const life of lives) for (const line of lifeLines(life)) options.log(line);
    tellFindings(lives, options);
    const [group] = lives;
    if (group?.events[0] === undefined) throw new Error('the first life has an event');
    options.log(azureLine(group.life, group.events[0]));
    const herds: SimulatedHerd[] = [];
    for (const herd of simulatedHerdsOf(options)) {
      const played = await simulatedHerd(herd);
      options.log(herdLine(played));
      herds.push(played);
    }
    const replays = await replaysOn(group, options);
    return countsOf(lives, herds, replays);
  },
};

/** One after another, because each takes the machine that it runs on. */
async function replaysOn({ life, traffic }: PlayedLife, options: ProofOptions): Promise<readonly Replay[]> {
  const { seed, isLong, log } = options;
  const missing = isLong && withoutKafka();
  if (missing) log(`Kafka was not run: ${missing}`);
  const replays: Replay[] = [];
  for (const { order, groups, isHerd } of replaysOf(options)) {
    const copies = isHerd ? traffic.filter(({ id }) => id.endsWith(':scheduled')) : traffic;
    const played = await replay(replayed(copies, { seed, groups, perGroup: life.machines }), order);
    log(replayLine(played));
    replays.push(played);
  }
  return replays;
}

function tellFindings(lives: readonly PlayedLife[], { seed, isLong, log }: ProofOptions): void {
  const findings = lives.flatMap(({ life, findings: found }) => found.map((finding) => ({ life, ...finding })));
  for (const { life, fault, what } of findings.slice(0, MOST_TOLD)) log(`${fault} in group "${life.name}": ${what}`);
  if (findings.length > 0) log(`again: npm run proof -- --parts fleet --seed ${seed}${isLong ? ' --long' : ''}`);
}

/** What runs on sockets is judged and not in the digest. */
function countsOf(lives: readonly PlayedLife[], herds: readonly SimulatedHerd[], replays: readonly Replay[]): Counts {
  const findings = lives.flatMap((life) => life.findings);
  const count = (fault: Fault) =>
    findings.filter((finding) => finding.fault === fault).length +
    replays.reduce((sum, { faults }) => sum + (faults[fault] ?? 0), 0);
  const seen = [...lives.map(({ digest }) => digest), ...herds.map((herd) => JSON.stringify(herd))];
  return {
    ...NOTHING,
    ...Object.fromEntries(FAULTS.map((fault) => [fault, count(fault)])),
    maintenances: lives.reduce((sum, { events }) => sum + events.length, 0),
    kills: lives.reduce((sum, { kills }) => sum + kills, 0),
    problems: findings.flatMap(({ fault, what }) => (fault === 'late' ? [`late: ${what}`] : [])),
    digest: createHash('sha256').update(seen.join('\n')).digest('hex'),
  };
}
