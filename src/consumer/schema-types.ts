// docs/schemas/*.json → the types of `data` and its fixed members; by `npm run schema-types`.

/* biome-ignore-all format: generated */

/**
 * The data of the CloudEvents scheduled, updated, started and ended. New members may be added; none is removed or changes its meaning within v1.
 */
export interface ChangeData {
  /**
   * EventId in the metadata service's own letter case. Compare it without case.
   */
  readonly eventId: string;
  /**
   * Freeze, Reboot, Redeploy, Preempt, Terminate or a newer type; empty where the service gives none.
   */
  readonly eventType: string;
  /**
   * Ended: the service no longer lists the event. All other members then tell what it listed last.
   */
  readonly eventStatus: 'Scheduled' | 'Started' | 'Ended';
  /**
   * The status before this change; null when this bridge sees the event for the first time.
   */
  readonly previousStatus: 'Scheduled' | 'Started' | null;
  /**
   * VirtualMachine, or empty.
   */
  readonly resourceType: string;
  /**
   * The machines concerned, in the service's order. Compare names without case.
   */
  readonly resources: readonly string[];
  /**
   * The event does not start before this time unless it is approved: RFC 3339 UTC in whole seconds. Null once it has started, or where the service gives none.
   */
  readonly notBefore: string | null;
  /**
   * For people; its wording varies. Empty where the service gives none.
   */
  readonly description: string;
  /**
   * Platform or User; empty where the service gives none.
   */
  readonly eventSource: string;
  /**
   * The expected interruption. 0: none; -1: unknown.
   */
  readonly durationInSeconds: number;
  /**
   * Only on updated: the members of this object that changed, sorted.
   *
   * @minItems 1
   */
  readonly changedFields?: readonly (
    'description' | 'durationInSeconds' | 'eventSource' | 'eventStatus' | 'eventType' | 'notBefore' | 'resourceType' | 'resources'
  )[];
  /**
   * Only on ended. completed: it was last seen Started. canceled: it vanished while Scheduled, before its time and unapproved, so undo the preparation. unknown: all else.
   */
  readonly outcome?: 'completed' | 'canceled' | 'unknown';
  /**
   * Of a drill alone: the event was made up on this bridge, to try what hangs on it. The metadata service knows nothing of it.
   */
  readonly drill?: true;
  /**
   * Who saw the change. Together with the attribute time this is all that differs between the CloudEvents of several machines for one change.
   */
  readonly observer: {
    /**
     * The observing VM's own name; null while unknown.
     */
    readonly name: string | null;
    /**
     * What cloudevents.observer of the bridge's configuration asks for of the VM's instance metadata, as far as it is known; absent without.
     */
    readonly vm?: {
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
      /**
       * By the names in the configuration.
       */
      readonly tags?: {
        [k: string]: string;
      };
    };
    /**
     * DocumentIncarnation of the document that told the change.
     */
    readonly documentIncarnation: number | null;
    /**
     * Whether resources name the observing VM; null while its name is unknown.
     */
    readonly affected: boolean | null;
    /**
     * Only on started, where the observer knows of the approval that let the event start.
     */
    readonly approval?: {
      /**
       * The approvers, in the order in which they said yes; empty where a policy decided.
       */
      readonly approvedBy: readonly string[];
      /**
       * The rule of the policy that decided, or under which approvers did: documentation, or policy[N] counted from 0; null where none matched.
       */
      readonly policy: string | null;
      /**
       * When the approval reached its last state, RFC 3339.
       */
      readonly at: string;
    };
  };
}

/**
 * The data of the CloudEvents approval.recorded, approval.submitted and approval.failed. New members may be added; none is removed or changes its meaning within v1.
 */
export interface ApprovalData {
  /**
   * EventId in the metadata service's own letter case or, where it lists no such event, as the approver wrote it. Compare it without case.
   */
  readonly eventId: string;
  /**
   * Who said yes; null where several did or a policy decided.
   */
  readonly approver: string | null;
  /**
   * The rule of the policy that decided, or under which approvers did: documentation, or policy[N] counted from 0; null where none matched, and on recorded.
   */
  readonly policy: string | null;
  /**
   * Why the approval failed: changed (it became void), refused (by the metadata service), or the type of the refusal of a message that came through a source, such as unknown, ended or scope; null on recorded and submitted.
   */
  readonly reason: string | null;
  /**
   * When this happened, RFC 3339.
   */
  readonly at: string;
  /**
   * Of a drill alone: the event was made up on this bridge, to try what hangs on it. The metadata service knows nothing of it.
   */
  readonly drill?: true;
  /**
   * The bridge that handled the approval.
   */
  readonly observer: {
    /**
     * Its VM's own name; null while unknown.
     */
    readonly name: string | null;
    /**
     * What cloudevents.observer of the bridge's configuration asks for of the VM's instance metadata, as far as it is known; absent without.
     */
    readonly vm?: {
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
      /**
       * By the names in the configuration.
       */
      readonly tags?: {
        [k: string]: string;
      };
    };
    /**
     * Whether the event's resources name that VM; null while its name is unknown, and for an event that the metadata service does not list.
     */
    readonly affected: boolean | null;
  };
}

/**
 * The data of the CloudEvents source.blind and source.restored. New members may be added; none is removed or changes its meaning within v1.
 */
export interface SourceData {
  /**
   * The time of the last good document or, without one, of the first request: RFC 3339 UTC in whole seconds. The same in blind and its restored.
   */
  readonly since: string;
  /**
   * The time of the last good document before sight was lost, as since; null where there was none.
   */
  readonly lastDocumentAt: string | null;
  /**
   * Why there was no good document; null on restored.
   */
  readonly reason: string | null;
  /**
   * The bridge that lost sight.
   */
  readonly observer: {
    /**
     * Its VM's own name; null while unknown.
     */
    readonly name: string | null;
    /**
     * What cloudevents.observer of the bridge's configuration asks for of the VM's instance metadata, as far as it is known; absent without.
     */
    readonly vm?: {
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
      /**
       * By the names in the configuration.
       */
      readonly tags?: {
        [k: string]: string;
      };
    };
  };
}

/** The members that `data` always has, each with the JSON types that it may be of. */
export const SHAPES = {
  change: {"eventId":["string"],"eventType":["string"],"eventStatus":["string"],"previousStatus":["string","null"],"resourceType":["string"],"resources":["array"],"notBefore":["string","null"],"description":["string"],"eventSource":["string"],"durationInSeconds":["number"],"observer":["object"]},
  approval: {"eventId":["string"],"approver":["string","null"],"policy":["string","null"],"reason":["string","null"],"at":["string"],"observer":["object"]},
  source: {"since":["string"],"lastDocumentAt":["string","null"],"reason":["string","null"],"observer":["object"]},
} as const;
