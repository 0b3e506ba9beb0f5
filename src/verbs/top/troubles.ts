// Bridges → one line for each bridge that is not reached or not ready, and each sink in trouble.
import { spokenTime } from '../../formats/durations.ts';
import type { ScreenLine } from './terminal-screen.ts';
import type { WatchedBridge } from './watched-bridge.ts';

/** Returns every trouble in words, bridges first. */
export function troubles(bridges: readonly WatchedBridge[], elapsedMs: number): readonly string[] {
  return [
    ...bridges.flatMap((bridge) => bridgeTrouble(bridge, elapsedMs)),
    ...bridges.flatMap(({ name, reasons }) => reasons.map((reason) => `${name}: not ready: ${reason}`)),
    ...bridges.flatMap(({ name, sinks }) =>
      sinks.map((sink) => {
        const counts = `${sink.queued} queued, ${sink.deadLetters} dead letters`;
        return `${name}: sink ${sink.name} ${sink.state}, ${counts}${sink.error === null ? '' : `: ${sink.error}`}`;
      }),
    ),
  ];
}

function bridgeTrouble({ name, fault, faultSinceMs, address }: WatchedBridge, elapsedMs: number): readonly string[] {
  if (fault === null) return [];
  const since = spokenTime(Math.max(0, elapsedMs - faultSinceMs) / 1000);
  const at = name === address.url.host ? '' : ` (${address.url.host})`;
  return [`${name}${at}: not reached for ${since}: ${fault}`];
}

/** Returns at most so many lines; the last one counts what is left. */
export function troubleLines(
  { bridges, elapsedMs }: { readonly bridges: readonly WatchedBridge[]; readonly elapsedMs: number },
  most: number,
): readonly ScreenLine[] {
  const all = troubles(bridges, elapsedMs);
  if (all.length === 0 || most === 0) return [];
  const shown = all.length <= most ? all : all.slice(0, most - 1);
  const more = all.length - shown.length;
  const last = more > 0 ? [`${more} more in trouble: t shows all`] : [];
  return [...shown, ...last].map((text) => ({ text: `! ${text}`, look: 'warning' }));
}
