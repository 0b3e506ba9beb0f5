// A sink's filter or a rule's conditions and an event → whether it matches, by sections 2 and 8.
import type { Conditions } from '../history.ts';

/** What conditions look at. */
export interface Judged {
  readonly eventType: string;
  readonly eventSource: string;
  readonly resources: readonly string[];
}

/** `*` is any text, `?` any one character, and letter case does not count. */
function matches(glob: string, name: string): boolean {
  const pattern = glob
    .toLowerCase()
    .replaceAll(/[^a-z0-9_*?]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${pattern}$`, 's').test(name.toLowerCase());
}

export function anyName(globs: readonly string[], names: readonly string[]): boolean {
  return names.some((name) => globs.some((glob) => matches(glob, name)));
}

/** An event that names nobody is matched by no glob. */
export function everyName(globs: readonly string[], names: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => globs.some((glob) => matches(glob, name)));
}

export function isAmong(words: readonly string[] | undefined, word: string): boolean {
  return words === undefined || words.some((each) => each.toLowerCase() === word.toLowerCase());
}

/** @param reach whether `resources` must match every name, as in what approves, or any */
export function meets({ impacts, initiators, resources }: Conditions, event: Judged, reach: 'any' | 'every'): boolean {
  if (!isAmong(impacts, event.eventType) || !isAmong(initiators, event.eventSource)) return false;
  if (resources === undefined) return true;
  return reach === 'any' ? anyName(resources, event.resources) : everyName(resources, event.resources);
}
