// Changes and their observer → the `data` of their CloudEvents (behaviour 3.11 to 3.13).
import { toRfc3339 } from '../formats/dates.ts';
import type { EventApproval } from '../model/approvals.ts';
import type {
  ApprovalChange,
  EndOutcome,
  EventField,
  EventStatus,
  Observer,
  ScheduledEvent,
  SightChange,
} from '../model/events.ts';
import { affects, isDrill } from '../model/ids.ts';
import { VM_FIELDS, type VmMetadata } from '../model/vm-metadata.ts';

/** The approval that let an event start. Only on `started`, if this bridge has it. */
interface EventApprovalData {
  /** In the order in which they said yes; empty if a policy decided. */
  readonly approvedBy: readonly string[];
  readonly policy: string | null;
  /** RFC 3339. */
  readonly at: string;
}

/** The VM whose bridge saw an event. */
interface EventObserverData {
  /** The VM's name; null while unknown. */
  readonly name: string | null;
  /** The known fields that `cloudevents.observer` lists. */
  readonly vm?: VmMetadata;
  readonly documentIncarnation: number | null;
  /** True if `resources` name this VM, compared without case; null while its name is unknown. */
  readonly affected: boolean | null;
  readonly approval?: EventApprovalData;
}

/** docs/schemas/change.v1.json */
export interface EventData extends Omit<ScheduledEvent, 'eventStatus'> {
  readonly eventStatus: EventStatus | 'Ended';
  /** Null when first seen. */
  readonly previousStatus: EventStatus | null;
  /** Only on `updated`; sorted. */
  readonly changedFields?: readonly EventField[];
  /** Only on `ended`. */
  readonly outcome?: EndOutcome;
  /** Only for a drill: the event is made up. */
  readonly drill?: true;
  readonly observer: EventObserverData;
}

/** docs/schemas/approval.v1.json */
interface ApprovalChangeData extends Pick<ApprovalChange, 'eventId' | 'approver' | 'policy' | 'reason'> {
  /** RFC 3339. */
  readonly at: string;
  /** Only for a drill. */
  readonly drill?: true;
  /**
   * Without an incarnation, because no single document made the change. `affected` is null also for an event that is
   * not listed.
   */
  readonly observer: Pick<EventObserverData, 'name' | 'vm' | 'affected'>;
}

/** docs/schemas/source.v1.json */
interface SightChangeData extends Pick<SightChange, 'since' | 'lastDocumentAt' | 'reason'> {
  readonly observer: Pick<EventObserverData, 'name' | 'vm'>;
}

export type CloudEventData = EventData | ApprovalChangeData | SightChangeData;

/** The facts that `data` has about an event beyond its content. */
interface EventView {
  readonly previousStatus: EventStatus | null;
  readonly incarnation: number | null;
  readonly observer: Observer;
  /** If absent, `data` does not have it. */
  readonly changedFields?: readonly EventField[];
  /** Given for an event that has ended; its status in `data` is then `Ended`. */
  readonly outcome?: EndOutcome;
  readonly approval?: EventApprovalData | null;
}

/**
 * Returns the `data` of a change of an event, which is also what `GET /v1/events` shows. The members have the order of
 * behaviour 3.11.
 */
export function eventData(event: ScheduledEvent, view: EventView): EventData {
  const { eventId, eventType, resourceType, resources, notBefore, description, eventSource, durationInSeconds } = event;
  const eventStatus = view.outcome === undefined ? event.eventStatus : 'Ended';
  return {
    ...{ eventId, eventType, eventStatus, previousStatus: view.previousStatus },
    ...{ resourceType, resources, notBefore, description, eventSource, durationInSeconds },
    ...(view.changedFields && { changedFields: view.changedFields }),
    ...(view.outcome && { outcome: view.outcome }),
    ...(isDrill(event.eventId) && { drill: true as const }),
    observer: {
      ...nameAndVm(view.observer),
      documentIncarnation: view.incarnation,
      affected: isAffected(event, view.observer),
      ...(view.approval && { approval: view.approval }),
    },
  };
}

/** Returns the approval that let an event start, or null if it waits, is held or failed. */
export function eventApprovalData(approval: EventApproval | null): EventApprovalData | null {
  if (approval === null || ['waiting', 'held', 'failed'].includes(approval.state)) return null;
  return {
    approvedBy: approval.votes.map((vote) => vote.approver),
    policy: approval.policy,
    at: toRfc3339(approval.at.wallMs),
  };
}

export function approvalChangeData(
  { eventId, approver, policy, reason, at, key, event }: ApprovalChange,
  observer: Observer,
): ApprovalChangeData {
  return {
    ...{ eventId, approver, policy, reason, at: toRfc3339(at.wallMs) },
    ...(isDrill(key) && { drill: true as const }),
    observer: { ...nameAndVm(observer), affected: event && isAffected(event, observer) },
  };
}

export function sightChangeData({ since, lastDocumentAt, reason }: SightChange, observer: Observer): SightChangeData {
  return { since, lastDocumentAt, reason, observer: nameAndVm(observer) };
}

function nameAndVm({ name, vm }: Observer): Pick<EventObserverData, 'name' | 'vm'> {
  return vm === undefined ? { name } : { name, vm };
}

function isAffected(event: ScheduledEvent, { name }: Observer): boolean | null {
  return name === null ? null : affects(event, name);
}

/** Before the name of a tag in `cloudevents.observer`. */
export const TAG_PREFIX = 'tags.';

/**
 * Returns the wanted fields and tags that are known, in the order of the configuration, or null if there are none. A
 * tag has its name from the configuration; its letter case does not count when it is looked up.
 */
export function toObservedVm(metadata: VmMetadata | null, wanted: readonly string[]): VmMetadata | null {
  const fields = wanted.flatMap((name): readonly [string, string][] => {
    const field = VM_FIELDS.find((known) => known === name);
    const value = field && metadata?.[field];
    return value === undefined ? [] : [[name, value]];
  });
  const values = new Map(Object.entries(metadata?.tags ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const tags = wanted
    .filter((name) => name.startsWith(TAG_PREFIX))
    .map((name) => name.slice(TAG_PREFIX.length))
    .flatMap((name): readonly [string, string][] => {
      const value = values.get(name.toLowerCase());
      return value === undefined ? [] : [[name, value]];
    });
  if (fields.length + tags.length === 0) return null;
  return { ...Object.fromEntries(fields), ...(tags.length > 0 && { tags: Object.fromEntries(tags) }) };
}
