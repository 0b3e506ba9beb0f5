// The attempts of a delivery, or the run under way → words. Pure.
import { spokenTime } from '../../formats/durations.ts';

export interface RunWords {
  readonly since: string;
  readonly attempt: number;
  readonly last: string | null;
}

/** `running for 25s (attempt 2), last: …` @param detail what `last` is, such as `last line:` */
export function runWords({ since, attempt, last }: RunWords, detail: string, wallMs: number): string {
  const began = `running for ${spokenTime((wallMs - Date.parse(since)) / 1000)} (attempt ${attempt})`;
  return last === null ? began : `${began}, ${detail} ${last}`;
}

/** `after 1 attempt (422)`, to follow a comma. The first attempt may be under way if none has ended. */
export function attemptWords({
  attempts,
  status,
}: {
  readonly attempts: number;
  readonly status: number | string | null;
}): string {
  if (attempts === 0) return 'and no attempt has ended';
  return `after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${status == null ? '' : ` (${status})`}`;
}
