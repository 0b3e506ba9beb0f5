// Configured sinks → the sinks that approve, and the store that records their approvals.
import type { SinkApprover } from '../../adapters/adapter.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { Config, SinkConfig } from '../config/config.ts';
import type { LaneStore } from '../delivery/outcome-writer.ts';
import { BridgeError } from '../errors.ts';
import type { ApprovalOrigin } from '../model/approvals.ts';
import type { ScheduledEvent } from '../model/events.ts';
import { sinkOf, sourceOf } from '../model/hold-owner.ts';
import type { Queue } from '../outbox/queue.ts';

/** Returns the approver in whose name a sink approves, or null. */
export function sinkApprover({ adapter, options }: Pick<SinkConfig, 'adapter' | 'options'>): SinkApprover | null {
  return adapter.approverOf?.(options) ?? null;
}

/** Returns the sinks that hold events, each with its approver. */
export function holdingSinks({ sinks }: Pick<Config, 'sinks'>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(sinks).flatMap(([name, sink]) => {
      const approver = sinkApprover(sink);
      return approver?.holds ? [[name, approver.name] as const] : [];
    }),
  );
}

/** Returns whether a sink acts on an event, or null while that is unknown. */
export function actsOn(
  { sinks }: Pick<Config, 'sinks'>,
  sink: string,
  event: ScheduledEvent,
  ownName: string | null,
): boolean | null {
  const config = sinks[sink];
  const actsOnEvent = config && sinkApprover(config)?.actsOn;
  return actsOnEvent === undefined ? true : actsOnEvent(event, ownName);
}

/** Returns whether this configuration lets a source or sink act for an approver. @param event null for any event */
export function isAuthorized(
  { sinks, approvals }: Pick<Config, 'sinks' | 'approvals'>,
  origin: Pick<ApprovalOrigin, 'approver' | 'via'>,
  event: ScheduledEvent | null,
  ownName: string | null,
): boolean {
  const [source, sink] = [sourceOf(origin), sinkOf(origin)];
  if (source !== null) return approvals.sources[source]?.approver === origin.approver;
  const config = sink === null ? undefined : sinks[sink];
  if (config === undefined || sinkApprover(config)?.name !== origin.approver) return false;
  return event === null || actsOn({ sinks }, sink ?? '', event, ownName) !== false;
}

interface ApprovingParts {
  readonly queue: Queue;
  /** Null until documents are handled (behaviour 4.12). */
  readonly approvals: () => Pick<Approvals, 'settle'> | null;
}

/** Returns a function that records an accepted delivery and its approval in one transaction (behaviour 10.5). */
export function settleApproving(approver: string, { queue, approvals }: ApprovingParts): LaneStore['settle'] {
  return (sink, settlements, atMs, error) => {
    if (settlements.every((each) => each.result !== 'accepted' || each.approves === undefined)) {
      queue.settle(sink, settlements, atMs, error);
      return;
    }
    const open = approvals();
    if (open === null) throw tooEarly(sink, approver);
    open.settle({ sink, approver }, settlements, atMs, error);
  };
}

function tooEarly(sink: string, approver: string): BridgeError {
  const message = `sink ${sink} approved for ${approver}, but the bridge does not handle documents yet; it records the approval as soon as it does`;
  return new BridgeError('BRIDGE_APPROVALS_EARLY', message);
}
