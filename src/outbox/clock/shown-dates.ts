// When the clock was set to what → the dates that it has not shown for so long.

/** From this moment of the store's time on the clock showed `sinceMs + offsetMs`, until it was set again. */
export interface ClockSetting {
  readonly sinceMs: number;
  readonly offsetMs: number;
}

/** From the first to before the second. */
export type Span = readonly [fromMs: number, toMs: number];

/** As long as a set clock may go unnoticed where no document can be read, and as exact as its settings are. */
const SLACK_MS = 15 * 60 * 1000;
/** Shorter gaps between shown dates, such as a machine's nights, are not worth a look: what bears such a date goes with the days before. */
const LEAST_GAP_MS = 7 * 24 * 60 * 60 * 1000;

const [FIRST_MS, LAST_MS] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

/**
 * What bears one of these dates was written longer ago than `ageMs` of the store's time, whatever the clock was set to meanwhile. Before all
 * else it is what came before the dates shown since; where the clock was set back, also what lies ahead of them.
 * @param settings in order; the last one is how the clock is now
 */
export function datesPast(settings: readonly ClockSetting[], nowMs: number, ageMs: number): readonly Span[] {
  const spans: Span[] = [];
  let fromMs = FIRST_MS;
  for (const [firstMs, lastMs] of shownSince(settings, nowMs, nowMs - ageMs)) {
    if (spans.length === 0 || firstMs - fromMs >= LEAST_GAP_MS) spans.push([fromMs, Math.max(fromMs, firstMs)]);
    fromMs = Math.max(fromMs, lastMs);
  }
  return [...spans, [fromMs, LAST_MS]];
}

/** In the order of their dates. */
function shownSince(settings: readonly ClockSetting[], nowMs: number, sinceMs: number): readonly Span[] {
  const shown = settings.flatMap((setting, index): Span[] => {
    const untilMs = settings[index + 1]?.sinceMs ?? nowMs;
    if (untilMs < sinceMs) return [];
    // It may have been set a little before that was noticed; what was written before `sinceMs` is past in any case.
    const firstMs = setting.sinceMs > sinceMs ? setting.sinceMs - SLACK_MS : sinceMs;
    return [[firstMs + setting.offsetMs, untilMs + setting.offsetMs + SLACK_MS]];
  });
  return shown.sort(([one], [other]) => one - other);
}
