// The JSON of an event in `/v1/events` or on the stream → the parts that `top` shows, or null.

import { isObject, type JsonObject, objectOf, stringOf } from '../../formats/json-object.ts';
import { APPROVAL_STATES, type ApprovalState } from '../../model/approvals.ts';
import type { GoverningRule, GoverningWindow, NextStep } from '../../model/next-step.ts';

interface ShownHold {
  readonly approver: string;
  readonly reason: string | null;
}

/** An event as one bridge lists it. */
export interface ListedEvent {
  /** The EventId in lower case. */
  readonly key: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly eventStatus: string;
  readonly resources: readonly string[];
  /** Milliseconds since 1970; null if there is none. */
  readonly notBeforeMs: number | null;
  /** -1: unknown. */
  readonly durationInSeconds: number;
  readonly eventSource: string;
  /** Whether it names the machine of the bridge; null if the bridge does not know. */
  readonly affected: boolean | null;
  /** The CloudEvent that an approval answers (`Seen`); null if there is none. */
  readonly cloudEventId: string | null;
  readonly approval: ShownApproval | null;
  /** What happens if nobody acts; null before the bridge has sent it. */
  readonly nextStep: NextStep | null;
  /** The rule that governs it; null unless it is Scheduled. */
  readonly rule: GoverningRule | null;
  /** The budgets that hold it back now. */
  readonly heldBackBy: readonly string[];
}

interface ShownApproval {
  readonly state: ApprovalState;
  readonly approvedBy: readonly string[];
  readonly waitingFor: readonly string[];
  readonly holds: readonly ShownHold[];
}

/** Returns null if it is not an event with an EventId. */
export function listedEvent(value: unknown): ListedEvent | null {
  if (!isObject(value) || typeof value['eventId'] !== 'string') return null;
  const { eventId, approval, nextStep, rule, durationInSeconds } = value;
  const affected = objectOf(value['observer'])['affected'];
  return {
    key: eventId.toLowerCase(),
    eventId,
    eventType: stringOf(value['eventType']),
    eventStatus: stringOf(value['eventStatus']),
    resources: texts(value['resources']),
    notBeforeMs: moment(value['notBefore']),
    durationInSeconds: typeof durationInSeconds === 'number' ? durationInSeconds : -1,
    eventSource: stringOf(value['eventSource']),
    affected: typeof affected === 'boolean' ? affected : null,
    cloudEventId: textOrNull(value['cloudEventId']),
    approval: isObject(approval) ? shownApproval(approval) : null,
    nextStep: isObject(nextStep) ? shownNextStep(nextStep) : null,
    rule: isObject(rule) ? governingRule(rule) : null,
    heldBackBy: texts(value['heldBackBy']),
  };
}

function shownApproval({ state, approvedBy, waitingFor, holds }: JsonObject): ShownApproval {
  return {
    state: APPROVAL_STATES.find((known) => known === state) ?? 'unknown',
    approvedBy: texts(approvedBy),
    waitingFor: texts(waitingFor),
    holds: (Array.isArray(holds) ? holds : []).map((hold) => ({
      approver: stringOf(objectOf(hold)['approver']),
      reason: textOrNull(objectOf(hold)['reason']),
    })),
  };
}

function shownNextStep({ action, at, by }: JsonObject): NextStep {
  return {
    action: action === 'approve' || action === 'start' ? action : null,
    at: moment(at) === null ? null : String(at),
    by: textOrNull(by),
  };
}

function governingRule({ policy, then, waitingFor, window }: JsonObject): GoverningRule {
  return {
    policy: textOrNull(policy),
    then: then === 'approve' || then === 'never' ? then : 'wait',
    waitingFor: texts(waitingFor),
    window: isObject(window) ? governingWindow(window) : null,
  };
}

/** Returns null if a time of it is missing. */
function governingWindow({ name, opensAt, closesAt }: JsonObject): GoverningWindow | null {
  if (moment(opensAt) === null || moment(closesAt) === null) return null;
  return { name: stringOf(name), opensAt: String(opensAt), closesAt: String(closesAt) };
}

/** Whether an approver would judge both alike. */
export function isSameContent(one: ListedEvent, other: ListedEvent): boolean {
  return (
    one.eventType === other.eventType &&
    one.eventStatus === other.eventStatus &&
    one.notBeforeMs === other.notBeforeMs &&
    one.durationInSeconds === other.durationInSeconds &&
    one.resources.length === other.resources.length &&
    one.resources.every((name, index) => name === other.resources[index])
  );
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function moment(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
