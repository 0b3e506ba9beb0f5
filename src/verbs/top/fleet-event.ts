// The events of all bridges → each event once, with its bridges, by urgency.
import type { ListedEvent } from './listed-event.ts';
import type { WatchedBridge } from './watched-bridge.ts';

/** An event, as the bridge shows it that an approval goes to. */
export interface FleetEvent {
  readonly event: ListedEvent;
  /** Approvals go here: a bridge that answers, if possible on a machine that the event names. */
  readonly bridge: WatchedBridge;
  /** All that list it, `bridge` included. Each counts holds and approvals by itself. */
  readonly bridges: readonly WatchedBridge[];
}

interface Draft {
  event: ListedEvent;
  bridge: WatchedBridge;
  readonly bridges: WatchedBridge[];
}

/** Returns each event once. Running events come first, then by NotBefore; events without one come last. */
export function mergedEvents(bridges: Iterable<WatchedBridge>): readonly FleetEvent[] {
  const byKey = new Map<string, Draft>();
  for (const bridge of bridges) {
    for (const event of bridge.events.values()) {
      const draft = byKey.get(event.key);
      if (draft === undefined) byKey.set(event.key, { event, bridge, bridges: [bridge] });
      else {
        draft.bridges.push(bridge);
        if (weight(event, bridge) > weight(draft.event, draft.bridge)) [draft.event, draft.bridge] = [event, bridge];
      }
    }
  }
  return [...byKey.values()].sort(byUrgency);
}

/** The bridge that an approval goes to stays the same while bridges answer: quorums are counted by each bridge. */
function weight(event: ListedEvent, bridge: WatchedBridge): number {
  return (bridge.fault === null ? 4 : 0) + (isRunning(event) ? 2 : 0) + (event.affected === true ? 1 : 0);
}

const SEVERITY = ['Terminate', 'Preempt', 'Redeploy', 'Reboot', 'Freeze'];

function byUrgency({ event: one }: FleetEvent, { event: other }: FleetEvent): number {
  return (
    Number(isRunning(other)) - Number(isRunning(one)) ||
    (isRunning(one) ? 0 : (one.notBeforeMs ?? Number.MAX_VALUE) - (other.notBeforeMs ?? Number.MAX_VALUE)) ||
    severity(one) - severity(other) ||
    (one.key < other.key ? -1 : 1)
  );
}

export function isRunning({ eventStatus }: ListedEvent): boolean {
  return eventStatus === 'Started';
}

/** 0 is the worst; an unknown type counts as the worst. */
function severity({ eventType }: ListedEvent): number {
  return Math.max(0, SEVERITY.indexOf(eventType));
}

/** Returns whether every word of the filter occurs in the event, letter case aside. */
export function matches({ event, bridges }: FleetEvent, filter: string): boolean {
  if (filter === '') return true;
  const text = [
    ...[event.eventType, event.eventStatus, event.eventId, event.eventSource, ...event.resources],
    ...(event.rule?.waitingFor ?? event.approval?.waitingFor ?? []),
    ...bridges.map(({ name }) => name),
  ]
    .join(' ')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(' ')
    .every((word) => text.includes(word));
}
