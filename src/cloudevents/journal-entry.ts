// A change and its observer → its journal entry: the CloudEvent's bytes, ids and keys.
import { changeName } from '../model/change-names.ts';
import type { Change, JournalEntry } from '../model/events.ts';
import { type EventContext, partitionKeyOf, toCloudEvent } from './event.ts';
import { encodeStructured } from './structured.ts';

/** Called once for each change. Every attempt at every sink sends these bytes. */
export function toJournalEntry(change: Change, context: EventContext): JournalEntry {
  return {
    id: change.id,
    change: changeName(change),
    key: change.kind === 'sight' ? null : change.key,
    occurrence: change.kind === 'sight' ? null : change.occurrence,
    partitionKey: partitionKeyOf(change, context.observer),
    timeMs: Math.trunc(change.at.wallMs),
    bytes: encodeStructured(toCloudEvent(change, context)),
  };
}
