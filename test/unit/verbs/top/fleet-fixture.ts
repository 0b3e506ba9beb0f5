// JSON of events → bridges of a fleet that list them, without a connection.
import assert from 'node:assert/strict';
import { systemDeps } from '../../../../src/time/system.ts';
import { type ListedEvent, listedEvent } from '../../../../src/verbs/top/listed-event.ts';
import { WatchedBridge } from '../../../../src/verbs/top/watched-bridge.ts';

/** An event as `/v1/events` has it, with `more` over it. */
export function eventOf(eventId: string, more: object = {}): ListedEvent {
  const event = {
    ...{ eventId, eventType: 'Reboot', eventStatus: 'Scheduled', resources: ['web_0'], eventSource: 'Platform' },
    ...{ notBefore: '2026-01-01T00:15:00Z', durationInSeconds: -1, observer: { affected: true } },
    ...{ cloudEventId: `${eventId}:scheduled`, approval: null },
    ...more,
  };
  return listedEvent(event) ?? assert.fail('not an event');
}

/** A bridge that answers and lists these, with `more` over it. */
export function bridgeOf(
  name: string,
  events: readonly ListedEvent[],
  more: Partial<Pick<WatchedBridge, 'fault' | 'heldAll' | 'isDryRun' | 'sinks' | 'reasons'>> = {},
): WatchedBridge {
  const address = { url: new URL(`https://${name}.example:8700/`), headers: {} };
  const bridge = new WatchedBridge(address, { deps: systemDeps(), signal: AbortSignal.abort() }, () => {});
  for (const event of events) bridge.events.set(event.key, event);
  return Object.assign(bridge, { name, fault: null, ...more });
}
