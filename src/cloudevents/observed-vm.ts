// Instance metadata and `cloudevents.observer` → `data.observer.vm` (behaviour 3.13).
import { VM_FIELDS, type VmMetadata } from '../model/vm-metadata.ts';

/** Before the name of a tag in `cloudevents.observer`. */
export const TAG_PREFIX = 'tags.';

/**
 * Returns the wanted fields and tags that are known, in the order of the configuration, or null if there are none. A
 * tag has its name from the configuration; its letter case does not count when it is looked up.
 */
export function toObservedVm(metadata: VmMetadata | null, wanted: readonly string[]): VmMetadata | null {
  const fields = wanted.flatMap((name): readonly [string, string][] => {
    const field = VM_FIELDS.find((known) => known === name);
    const value = field && metadata?.[field];
    return value === undefined ? [] : [[name, value]];
  });
  const values = new Map(Object.entries(metadata?.tags ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const tags = wanted
    .filter((name) => name.startsWith(TAG_PREFIX))
    .map((name) => name.slice(TAG_PREFIX.length))
    .flatMap((name): readonly [string, string][] => {
      const value = values.get(name.toLowerCase());
      return value === undefined ? [] : [[name, value]];
    });
  if (fields.length + tags.length === 0) return null;
  return { ...Object.fromEntries(fields), ...(tags.length > 0 && { tags: Object.fromEntries(tags) }) };
}
