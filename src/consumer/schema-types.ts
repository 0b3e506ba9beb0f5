// docs/schemas/*.json → the types of `data` and its fixed members; by `npm run schema-types`.

/* biome-ignore-all format: generated */

/** The data of the CloudEvents scheduled, updated, started and ended. Within v1, members may be added, and none is removed or changes its meaning. */
export interface ChangeData {
  /** EventId in the metadata service's letter case. Compare it without case. */
  readonly eventId: string;
  /** Freeze, Reboot, Redeploy, Preempt, Terminate or a newer type; empty if the service gives none. */
  readonly eventType: string;
  /** Ended: the service no longer lists the event. All other members then hold what it listed last. */
  readonly eventStatus: 'Scheduled' | 'Started' | 'Ended';
  /** The status before this change; null when this bridge sees the event for the first time. */
  readonly previousStatus: 'Scheduled' | 'Started' | null;
  /** VirtualMachine, or empty. */
  readonly resourceType: string;
  /** The machines that the event affects, in the service's order. Compare names without case. */
  readonly resources: readonly string[];
  /** The event does not start before this time unless it is approved: RFC 3339 UTC in whole seconds. Null once it has started, or if the service gives none. */
  readonly notBefore: string | null;
  /** A text for people; its wording varies. Empty if the service gives none. */
  readonly description: string;
  /** Platform or User; empty if the service gives none. */
  readonly eventSource: string;
  /** The expected interruption. 0: none; -1: unknown. */
  readonly durationInSeconds: number;
  /** Only on updated: the members of this object that changed, sorted. */
  readonly changedFields?: readonly (
    | 'description'
    | 'durationInSeconds'
    | 'eventSource'
    | 'eventStatus'
    | 'eventType'
    | 'notBefore'
    | 'resourceType'
    | 'resources'
  )[];
  /** Only on ended. completed: it was last seen Started. canceled: it disappeared while Scheduled, before its time and without an approval, so undo the preparation. unknown: all other cases. */
  readonly outcome?: 'completed' | 'canceled' | 'unknown';
  /** Only on the CloudEvents of a drill: the event was made up on this bridge for a test, and the metadata service does not list it. */
  readonly drill?: true;
  /** The VM whose bridge saw the change. Only this and the attribute time differ between the CloudEvents of several machines for one change. */
  readonly observer: {
    /** The observing VM's own name; null while unknown. */
    readonly name: string | null;
    /** The fields of the VM's instance metadata that cloudevents.observer of the bridge's configuration lists, if they are known; absent without any. */
    readonly vm?: ObservedVm;
    /** DocumentIncarnation of the document that showed the change. */
    readonly documentIncarnation: number | null;
    /** True if resources name the observing VM; null while its name is unknown. */
    readonly affected: boolean | null;
    /** The approval that let the event start. Only on started, and only if the observing bridge has it. */
    readonly approval?: {
      /** The approvers, in the order in which they said yes; empty if a policy decided. */
      readonly approvedBy: readonly string[];
      /** The rule of the policy that decided, or under which approvers did: documentation, or policy[N] counted from 0. Null if no rule matched. */
      readonly policy: string | null;
      /** When the approval reached its last state, RFC 3339. */
      readonly at: string;
    };
  };
}

/** The data of the CloudEvents approval.recorded, approval.submitted and approval.failed. Within v1, members may be added, and none is removed or changes its meaning. */
export interface ApprovalData {
  /** EventId in the metadata service's letter case or, if the service does not list such an event, as the approver wrote it. Compare it without case. */
  readonly eventId: string;
  /** The approver who said yes; null if several did or a policy decided. */
  readonly approver: string | null;
  /** The rule of the policy that decided, or under which approvers did: documentation, or policy[N] counted from 0. Null if no rule matched, and on recorded. */
  readonly policy: string | null;
  /** Why the approval failed: changed (it became void), dry-run (a dry run spent it), refused (by the metadata service), or why the bridge refused a message of a source, such as unknown, ended or scope. Null on recorded and submitted. */
  readonly reason: string | null;
  /** When this happened, RFC 3339. */
  readonly at: string;
  /** Only on the CloudEvents of a drill: the event was made up on this bridge for a test, and the metadata service does not list it. */
  readonly drill?: true;
  /** The bridge that handled the approval. */
  readonly observer: {
    /** Its VM's own name; null while unknown. */
    readonly name: string | null;
    /** The fields of the VM's instance metadata that cloudevents.observer of the bridge's configuration lists, if they are known; absent without any. */
    readonly vm?: ObservedVm;
    /** True if the event's resources name that VM; null while its name is unknown, and if the metadata service does not list the event. */
    readonly affected: boolean | null;
  };
}

/** The data of the CloudEvents source.blind and source.restored. Within v1, members may be added, and none is removed or changes its meaning. */
export interface SourceData {
  /** The time of the last good document or, without one, of the first request: RFC 3339 UTC in whole seconds. The same in blind and its restored. */
  readonly since: string;
  /** The time of the last good document before sight was lost, as since; null if there was none. */
  readonly lastDocumentAt: string | null;
  /** Why there was no good document; null on restored. */
  readonly reason: string | null;
  /** The bridge that lost sight. */
  readonly observer: {
    /** Its VM's own name; null while unknown. */
    readonly name: string | null;
    /** The fields of the VM's instance metadata that cloudevents.observer of the bridge's configuration lists, if they are known; absent without any. */
    readonly vm?: ObservedVm;
  };
}

/** The fields of the VM's instance metadata that cloudevents.observer of the bridge's configuration lists, if they are known; absent without any. */
export interface ObservedVm {
  readonly location?: string;
  readonly zone?: string;
  readonly vmSize?: string;
  readonly vmId?: string;
  readonly resourceId?: string;
  readonly subscriptionId?: string;
  readonly resourceGroupName?: string;
  readonly vmScaleSetName?: string;
  readonly placementGroupId?: string;
  readonly platformFaultDomain?: string;
  readonly platformUpdateDomain?: string;
  readonly priority?: string;
  readonly evictionPolicy?: string;
  readonly publisher?: string;
  readonly offer?: string;
  readonly sku?: string;
  readonly version?: string;
  readonly osType?: string;
  readonly azEnvironment?: string;
  /** Tags, by their names in the configuration. */
  readonly tags?: {
    [k: string]: string;
  };
}

/** The members that `data` always has, each with the JSON types that it may be of. */
export const SHAPES = {
  change: {"eventId":["string"],"eventType":["string"],"eventStatus":["string"],"previousStatus":["string","null"],"resourceType":["string"],"resources":["array"],"notBefore":["string","null"],"description":["string"],"eventSource":["string"],"durationInSeconds":["number"],"observer":["object"]},
  approval: {"eventId":["string"],"approver":["string","null"],"policy":["string","null"],"reason":["string","null"],"at":["string"],"observer":["object"]},
  source: {"since":["string"],"lastDocumentAt":["string","null"],"reason":["string","null"],"observer":["object"]},
} as const;
