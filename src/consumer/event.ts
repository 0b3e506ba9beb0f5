// A bridge's CloudEvents as types, one for each change, and a type guard.
import { CHANGE_NAMES, type ChangeName } from '../model/change-names.ts';
import type { ApprovalData, ChangeData, SourceData } from './schema-types.ts';

export const DEFAULT_TYPE_PREFIX = 'io.github.scheduled-events-bridge';

/** A CloudEvent 1.0 of any mode. An attribute that is not set is absent. */
export interface CloudEvent<Data = unknown> {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  /** RFC 3339: when the bridge saw the change. */
  readonly time?: string;
  readonly datacontenttype?: string;
  readonly dataschema?: string;
  /** The key of the order: one scheduled event, or for `source.*` one bridge. */
  readonly partitionkey?: string;
  readonly correlationid?: string;
  /** EventType in lower case. */
  readonly impact?: string;
  /** EventSource in lower case. */
  readonly initiator?: string;
  readonly outcome?: string;
  /** NotBefore, if it was still to come. */
  readonly expirytime?: string;
  readonly severitynumber?: number;
  readonly severitytext?: string;
  readonly traceparent?: string;
  /** Only for a drill. */
  readonly drill?: boolean;
  /**
   * True for a drill, a made-up event. Check it before you do something that cannot be undone. Handlers always have it.
   * It is not a member of the CloudEvent, so JSON.stringify leaves it out.
   */
  readonly isDrill?: boolean;
  readonly data: Data;
  readonly [extension: string]: unknown;
}

/** The `data` of each change. */
export interface DataOf {
  readonly scheduled: ChangeData;
  readonly updated: ChangeData & Required<Pick<ChangeData, 'changedFields'>>;
  readonly started: ChangeData;
  readonly ended: ChangeData & Required<Pick<ChangeData, 'outcome'>>;
  readonly 'approval.recorded': ApprovalData;
  readonly 'approval.submitted': ApprovalData;
  readonly 'approval.failed': ApprovalData;
  readonly 'source.blind': SourceData;
  readonly 'source.restored': SourceData;
}

/** The CloudEvent of a change: `EventOf<'scheduled'>`. */
export type EventOf<Name extends ChangeName> = CloudEvent<DataOf[Name]>;
/** The changes of a scheduled event. */
export type LifeEvent = EventOf<'scheduled' | 'updated' | 'started' | 'ended'>;
/** Any CloudEvent of a bridge. */
export type BridgeEvent = { [Name in ChangeName]: EventOf<Name> }[ChangeName];

/** Returns the change that a CloudEvent is about, or null if its type is not one of the bridge. */
export function changeOf(event: Pick<CloudEvent, 'type'>, typePrefix = DEFAULT_TYPE_PREFIX): ChangeName | null {
  return CHANGE_NAMES.find((name) => event.type === `${typePrefix}.${name}.v1`) ?? null;
}

/** Returns true if a CloudEvent that this library parsed is that change. Its `data` is then typed. */
export function isChange<Name extends ChangeName>(
  event: CloudEvent,
  name: Name,
  typePrefix?: string,
): event is EventOf<Name> {
  return changeOf(event, typePrefix) === name;
}
