// `policy test --scenario`: a scenario → the events at each moment, in virtual time.

import { parseDocument } from '../metadata/document.ts';
import { contentJson } from '../model/content.ts';
import type { ScheduledEvent } from '../model/events.ts';
import { type MachineOptions, machineNames } from '../simulator/events/machine.ts';
import { Group } from '../simulator/group.ts';
import { toDocument } from '../simulator/metadata/document.ts';
import type { Script } from '../simulator/script/script.ts';

/** The same at each run, so that the output for two policies can be compared line by line. */
const START_MS = Date.UTC(2026, 0, 1);

/** An event that is new, or that has changed before its start. */
export interface Sighting {
  readonly atMs: number;
  readonly event: ScheduledEvent;
}

/**
 * Yields each event when it first appears and, while it is Scheduled, after each change. The scenario plays to its end without approvals; a
 * repeating one plays one round. The events are those of all machines of the group, under this api-version.
 */
export function* sightings(script: Script, wanted: MachineOptions, apiVersion: string): Generator<Sighting> {
  const group = newGroup(script, wanted);
  group.play(script);
  const endMs = START_MS + (script.everyMs ?? Number.POSITIVE_INFINITY);
  const seen = new Map<string, string>();
  for (let nextMs: number | null = START_MS; nextMs !== null && nextMs < endMs; nextMs = group.nextDueMs()) {
    group.clock.advance(nextMs - group.clock.nowMs());
    group.catchUp();
    for (const event of eventsOf(group, apiVersion)) {
      const content = contentJson(event);
      const before = seen.get(event.eventId);
      seen.set(event.eventId, content);
      if (before !== content && (before === undefined || event.eventStatus === 'Scheduled')) yield { atMs: nextMs, event };
    }
  }
}

function newGroup(script: Script, wanted: MachineOptions): Group {
  // A linear congruential generator, for EventIds that are the same at each run.
  let drawn = 0;
  const random = () => {
    drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0;
    return drawn / 2 ** 32;
  };
  // Only `advance` moves the clock.
  const deps = { wallMs: () => START_MS, elapsedMs: () => 0, random };
  return new Group({ deps, vms: machineNames(wanted, script.group), gpu: script.group?.gpu ?? false });
}

function eventsOf(group: Group, apiVersion: string): readonly ScheduledEvent[] {
  const events = group.events.entries().map(({ event }) => event);
  const json = JSON.stringify(toDocument({ incarnation: group.events.view.incarnation, events }, apiVersion));
  return parseDocument(new TextEncoder().encode(json), apiVersion).events.map(({ unreadable: _, ...event }) => event);
}
