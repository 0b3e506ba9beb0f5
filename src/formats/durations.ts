// Durations (`500ms`, `10s`, `15m`, `30d`) as people write them ↔ milliseconds.

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const DURATION_PATTERN = '^\\d+(\\.\\d+)?(ms|s|m|h|d)$';

/** Returns milliseconds, or null if `text` is not a duration, or has more digits than a number can hold. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  const ms = match ? Number(match[1]) * MS[match[2] as keyof typeof MS] : Number.NaN;
  return Number.isFinite(ms) ? ms : null;
}

/** Returns the shortest text that `parseDuration` reads back: `90s`, `15m`, `1500ms`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms !== 0 && ms % MS[unit] === 0) return `${ms / MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}

/** Returns a time span for people, in its two largest units: `3d 4h`, `12m 5s`, `0s`. */
export function spokenTime(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2);
  return shown.map(([count, unit]) => `${count}${unit}`).join(' ');
}
