// A history → its lines: the settings that differ, then each step with its time.
import type { History, Step } from './history.ts';

export function storyOf({ machines, startMs, settings, steps }: History): readonly string[] {
  const used = settings.filter(
    (_each, place) => place === 0 || steps.some((step) => step.do === 'settings' && step.use === place),
  );
  return [
    `${machines} machines from ${new Date(startMs).toISOString()}`,
    ...used.map((each) => `settings ${settings.indexOf(each)}: ${JSON.stringify(each)}`),
    ...steps.map(lineOf),
  ];
}

function lineOf({ atMs, do: act, ...rest }: Step): string {
  return `${(atMs / 1000).toFixed(3)} s ${act} ${JSON.stringify(rest)}`;
}
