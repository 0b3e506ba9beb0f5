// A change → its name in filters, metrics and journal: the type without prefix and version.
import type { Change } from './events.ts';

export const CHANGE_NAMES = [
  'scheduled',
  'updated',
  'started',
  'ended',
  'approval.recorded',
  'approval.submitted',
  'approval.failed',
  'source.blind',
  'source.restored',
] as const;

export type ChangeName = (typeof CHANGE_NAMES)[number];

export function changeName(change: Change): ChangeName {
  return change.kind === 'event'
    ? change.phase
    : change.kind === 'approval'
      ? `approval.${change.phase}`
      : `source.${change.phase}`;
}
