// A number → as many new events for one document.
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import type { EventFields } from './metadata-service.ts';

/** Alike but for their ids, which are the same ones at every call. */
export function manyEvents(count: number): readonly EventFields[] {
  return Array.from({ length: count }, (_, place) => {
    const number = place.toString(16).toUpperCase().padStart(12, '0');
    return { ...EXAMPLE_EVENT, EventId: `C7061BAC-AFDC-4513-B24B-${number}` };
  });
}
