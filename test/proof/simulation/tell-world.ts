// A seed and the number of a history → its steps, what was seen, and what is wrong with it.
import { judge } from './oracle/judge.ts';
import { plannedHistory } from './plan.ts';
import { textOf } from './simulation.ts';
import { storyOf } from './story.ts';
import { play } from './world.ts';

export async function tellWorld(seed: number, world: number, log: (line: string) => void): Promise<void> {
  const played = await play(plannedHistory(seed, world));
  for (const line of storyOf(played.history)) log(line);
  let document = '';
  for (const observation of played.observations) {
    const { wallMs: _, ...rest } = observation;
    const text = observation.kind === 'document' ? `${observation.machine} ${observation.text}` : '';
    // Most documents are the last one again.
    if (text === '' || text !== document) log(JSON.stringify(rest));
    if (text !== '') document = text;
  }
  for (const finding of judge(played)) log(`→ ${textOf(finding)}`);
  log(`digest ${played.digest}`);
}
