// A group and the time → the answer of `GET /simulator`.
import { formatDuration } from '../../formats/durations.ts';
import type { OrderedFault } from '../events/faults.ts';
import { notBeforeMoment, type SimulatedEvent } from '../events/simulated-event.ts';
import type { Group } from '../group.ts';
import type { GroupState, ListedEvent } from './group-state.ts';

export function describeGroup(group: Group, nowMs: number): GroupState {
  const { clock, events, activation, machines, faults, player, strict, gpu, notBefore, urls } = group;
  const running = player.running();
  return {
    now: timeOf(nowMs),
    speed: clock.speed,
    strict,
    gpu,
    notBefore,
    incarnation: events.view.incarnation,
    service: { state: activation.state, eventsFrom: optionalTimeOf(activation.eventsFromMs) },
    vms: machines.map(({ name, faultDomain }) => ({ name, url: urls.get(name) ?? null, faultDomain })),
    scenario: running && {
      name: running.script.name,
      purpose: running.script.purpose,
      startedAt: timeOf(running.startedAtMs),
    },
    fault: faultState(faults.active(nowMs)),
    events: events.entries().map(listedEvent),
    past: events.past().map((entry) => ({ ...listedEvent(entry), endedAt: timeOf(entry.endedAtMs), end: entry.end })),
  };
}

function listedEvent(entry: SimulatedEvent): ListedEvent {
  const { event, seen, scheduledAtMs, approvedAtMs, startedAtMs, startsAtMs, goneAtMs } = entry;
  return {
    ...event,
    seen,
    scheduledAt: timeOf(scheduledAtMs),
    approvedAt: optionalTimeOf(approvedAtMs),
    startedAt: optionalTimeOf(startedAtMs),
    notBeforeAt: optionalTimeOf(notBeforeMoment(entry)),
    startsAt: optionalTimeOf(startsAtMs),
    goneAt: optionalTimeOf(goneAtMs),
  };
}

/** The active fault, in the form in which it was ordered. */
function faultState(active: ReturnType<Group['faults']['active']>): GroupState['fault'] {
  if (!active) return null;
  const { left, then, ...order } = active;
  return { ...asOrdered(order), left, ...(then.length === 0 ? {} : { then: then.map(asOrdered) }) };
}

function asOrdered({ delayMs, forMs, ...order }: OrderedFault): Readonly<Record<string, unknown>> {
  return {
    ...order,
    ...(delayMs === undefined ? {} : { delay: formatDuration(delayMs) }),
    ...(forMs === undefined ? {} : { for: formatDuration(forMs) }),
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function optionalTimeOf(ms: number | null): string | null {
  return ms === null ? null : timeOf(ms);
}
