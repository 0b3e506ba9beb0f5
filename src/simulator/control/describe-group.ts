// A group and the time → the answer of `GET /simulator`, and its types.
import { formatDuration } from '../../formats/durations.ts';
import type { NotBeforeClock, WireEvent } from '../events/event.ts';
import type { OrderedFault } from '../events/faults.ts';
import { notBeforeMoment, type SimulatedEvent } from '../events/simulated-event.ts';
import type { Group } from '../group.ts';

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

/** The state of a group. Times are RFC 3339, in simulated time; null if there is none. */
export interface GroupState {
  readonly now: string;
  /** Simulated seconds per second. */
  readonly speed: number;
  readonly strict: boolean;
  readonly gpu: boolean;
  /** The clock in which NotBefore of newly scheduled events is listed. */
  readonly notBefore: NotBeforeClock;
  readonly incarnation: number;
  /** `enabling` until events are listed, from `eventsFrom` on. */
  readonly service: { readonly state: 'off' | 'enabling' | 'on'; readonly eventsFrom: string | null };
  readonly vms: readonly { readonly name: string; readonly url: string | null; readonly faultDomain: number }[];
  /** The running scenario. */
  readonly scenario: { readonly name: string; readonly purpose: string; readonly startedAt: string } | null;
  /**
   * The active fault order. `left` is null if answers are not counted; `then` has the later orders of its list, if any.
   */
  readonly fault:
    | (Readonly<Record<string, unknown>> & {
        readonly left: number | null;
        readonly then?: readonly Readonly<Record<string, unknown>>[];
      })
    | null;
  /** The events that are not over, in the order in which they were scheduled. */
  readonly events: readonly ListedEvent[];
  /** The last 200 events that are over. */
  readonly past: readonly PastEvent[];
}

/** An event, with facts that the document does not show. */
export interface ListedEvent extends WireEvent {
  /** Names of the machines that see it, in lower case; null for all. */
  readonly seen: readonly string[] | null;
  readonly scheduledAt: string;
  readonly approvedAt: string | null;
  readonly startedAt: string | null;
  /** NotBefore in simulated time, whichever clock it is listed in. */
  readonly notBeforeAt: string | null;
  /** When it starts by itself. */
  readonly startsAt: string | null;
  /** When it ends by itself. */
  readonly goneAt: string | null;
}

export interface PastEvent extends ListedEvent {
  readonly endedAt: string;
  /** `withdrawn`: removed in any state, by a reset, a new scenario or a recording. */
  readonly end: 'completed' | 'canceled' | 'withdrawn';
}
