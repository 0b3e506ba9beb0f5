// A stored change and the running flow → the fields of its log line, with what happens next.
import type { JournalledEntry } from '../model/events.ts';
import { nextStepLine } from '../model/next-step.ts';
import type { RunningFlow } from './running-flow.ts';

type ShownFlow = Pick<RunningFlow, 'store' | 'approvals'>;

/** The changes whose log lines describe the event. Approvals have log lines of their own. */
const DESCRIBED: ReadonlySet<string> = new Set(['scheduled', 'updated', 'started']);

/** To be called when the effect of the change on approvals is in memory. */
export function changeFields(
  { id, change, key }: Pick<JournalledEntry, 'id' | 'change' | 'key'>,
  flow: ShownFlow | null,
  dryRun: boolean,
): object {
  const known = key !== null && DESCRIBED.has(change) ? flow?.store.state.events.get(key) : undefined;
  if (flow === null || known === undefined) return { id, change };
  const { eventId, eventType, eventStatus, resources, notBefore } = known.event;
  const approval = flow.approvals.summary(known.key);
  const isBlind = flow.store.blindness !== null;
  const event = { eventId, eventStatus, approval, ...flow.approvals.nextStep(known.key) };
  return { id, change, eventType, resources, notBefore, next: nextStepLine(event, { dryRun, isBlind }) };
}
