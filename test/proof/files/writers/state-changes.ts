// A seed → the changes of a consumer's state, for the writer and its test.
import type { StoredEvent } from '../../../../src/consumer/receive/prepared-state.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

export interface StateChange {
  readonly key: string;
  /** Null deletes it. */
  readonly event: StoredEvent | null;
}

const CHANGES = 60;

export function stateChanges(seed: number): readonly StateChange[] {
  const { random } = new VirtualTime({ seed });
  return Array.from({ length: CHANGES }, (_, number) => {
    const key = `event-${Math.floor(random() * 4)}`;
    // Some are longer than a page.
    const resources = Array.from({ length: Math.floor(random() * 400) }, (_each, index) => `vm-${number}-${index}`);
    const lastEnd = { keptUntilMs: number } as never;
    if (random() < 0.2) return { key, event: null };
    if (random() < 0.2) return { key, event: { lastEnd, isOver: true } };
    const event = { eventId: key, eventType: 'Reboot', durationInSeconds: number, resources, notBefore: null };
    return { key, event: { ...event, isReady: random() < 0.5, isAgain: false } as StoredEvent };
  });
}

/** The state after the first `count` changes. */
export function stateAfter(changes: readonly StateChange[], count: number): Readonly<Record<string, StoredEvent>> {
  const events = new Map<string, StoredEvent>();
  for (const { key, event } of changes.slice(0, count)) event === null ? events.delete(key) : events.set(key, event);
  return Object.fromEntries(events);
}
