// An event of the fleet → the question before an act on it, and its explanation.
import { type FleetEvent, isRunning } from './fleet-event.ts';
import { eventWords, nextLine } from './words.ts';

/** Returns why it is useless to ask, or null. */
export function approvalObstacle({ event, bridge }: FleetEvent): string | null {
  if (isRunning(event)) return 'it has started: there is nothing to approve';
  if (event.rule?.then !== 'never') return null;
  return event.rule.policy === null
    ? 'a recommendation only: there is nothing to approve'
    : `${bridge.name} never approves this event (${event.rule.policy})`;
}

export function approvalQuestion({ bridge }: FleetEvent): string {
  const dry = bridge.isDryRun ? ' Dry run: nothing is sent to Azure.' : '';
  return `APPROVE at ${bridge.name}?${dry} It starts now for every machine named; this cannot be taken back.`;
}

export function holdQuestion({ bridge, bridges }: FleetEvent, reason: string): string {
  const place = bridges.length === 1 ? bridge.name : `${bridges.length} bridges`;
  return `HOLD at ${place}, reason: ${reason}? No approval is submitted then; Azure still starts it at NotBefore.`;
}

/** Returns null if no hold stands. */
export function releaseQuestion({ event, bridges }: FleetEvent): string | null {
  const holds = bridges.flatMap(({ events }) => events.get(event.key)?.approval?.holds ?? []);
  const names = holds.map(({ approver, reason }) => `${approver}${reason === null ? '' : ` (${reason})`}`);
  if (names.length === 0) return null;
  return `RELEASE your hold, or as an admin all? Held by ${[...new Set(names)].join(', ')}. After the last release, what is decided is submitted.`;
}

/** Returns lines: what the event is, what happens next, who holds it. Its story follows. */
export function explanation(found: FleetEvent, wallMs: number): readonly string[] {
  const { event, bridge, bridges } = found;
  return [
    eventWords(found, wallMs),
    `machines: ${event.resources.join(', ')}`,
    `what happens next: ${nextLine(event, bridge)}`,
    ...(event.approval?.holds ?? []).map(({ approver, reason }) => `held by ${approver}: ${reason ?? 'no reason'}`),
    `listed by ${bridges.map(({ name }) => name).join(', ')}`,
    '',
    'story',
  ];
}
