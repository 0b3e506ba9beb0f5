// Scripts and a name → the script that is meant, by its name now or before.
import type { Script } from './script.ts';

/** What shipped scenarios were called in earlier versions, and are called now. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([['user-reboot-at-once', 'auto-approved-user-reboot']]);

/** Returns the script of this name, or the one that had it before; undefined if there is none. */
export function scriptNamed(scripts: readonly Script[], name: string): Script | undefined {
  const present = FORMER_NAMES.get(name);
  return scripts.find((script) => script.name === name) ?? scripts.find((script) => script.name === present);
}
