// What arrived at one machine's sinks, and their troubles → what a healthy sink got too late.
import type { Settings, Step } from '../history.ts';
import type { Observation, Observed } from '../observation.ts';
import type { Report } from './finding.ts';

/** No healthy sink is later than this because of another one. */
const LATE_MS = 1000;
/** What has disturbed the process itself may delay the next ones for so long. */
const DISTURBED_MS = 90_000;

const DISTURBING: ReadonlySet<Observation['kind']> = new Set([
  ...(['begun', 'failed', 'gone', 'settings', 'disk', 'commit-failed', 'frozen', 'thawed', 'jumped'] as const),
]);

/**
 * Virtual time passes only if something waits, so a healthy sink has a CloudEvent in the moment of its document. Sinks
 * that prepare take their time, and are not judged; neither is a sink from its first planned trouble on.
 */
export function judgeLateness(
  seen: readonly Observation[],
  steps: readonly Step[],
  settings: Settings,
  report: Report,
): void {
  const disturbedMs = seen.flatMap(({ kind, atMs }) => (DISTURBING.has(kind) ? [atMs] : []));
  for (const [sink, { approve }] of Object.entries(settings.sinks)) {
    if (approve !== undefined) continue;
    const troubledMs = Math.min(...steps.flatMap((step) => (isTroubleOf(step, sink) ? [step.atMs] : [])));
    for (const { id, atMs, wallMs, text } of arrivalsBefore(seen, sink, troubledMs)) {
      const { time } = JSON.parse(text) as { readonly time: string };
      const lateMs = wallMs - Date.parse(time);
      const isDisturbed = disturbedMs.some((each) => each >= atMs - lateMs - DISTURBED_MS && each <= atMs);
      if (lateMs > LATE_MS && !isDisturbed) report('late', atMs, `${sink}: ${id} came ${lateMs} ms after its time`);
    }
  }
}

function arrivalsBefore(seen: readonly Observation[], sink: string, untilMs: number): readonly Observed<'arrival'>[] {
  return seen.filter(
    (each): each is Observed<'arrival'> => each.kind === 'arrival' && each.sink === sink && each.atMs < untilMs,
  );
}

function isTroubleOf(step: Step, sink: string): boolean {
  return (step.do === 'sink' || step.do === 'command') && step.sink === sink;
}
