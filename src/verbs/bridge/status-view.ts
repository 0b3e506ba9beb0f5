// A bridge, or its store → the data that `status` shows; unavailable parts are null.
import { toRfc3339, toRfc3339Seconds } from '../../formats/dates.ts';
import { isObject } from '../../formats/json-object.ts';
import type { EventApproval } from '../../model/approvals.ts';
import { heldAllOf } from '../../model/held-all.ts';
import { isDrill } from '../../model/ids.ts';
import type { GoverningRule, NextStep } from '../../model/next-step.ts';
import type { MachineView, SinkView } from '../../model/operators.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import { withStoreToRead } from '../store.ts';
import type { VerbContext } from '../verb.ts';
import { askBridge, type BridgeRequest } from './bridge-client.ts';

/**
 * A sink of `GET /v1/sinks`; from the store, its state is `paused`, `retired` or else `stopped`. A bridge of an earlier
 * release has no `running`.
 */
export type ShownSink = Omit<SinkView, 'state' | 'running'> & { readonly state: string } & Partial<
    Pick<SinkView, 'running'>
  >;

export interface ShownEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventStatus: string;
  readonly resources: readonly string[];
  /** RFC 3339. */
  readonly notBefore: string | null;
  /** `affected`: whether the event names this machine; absent in the store. */
  readonly observer?: { readonly affected: boolean | null };
  readonly approval: ShownApproval | null;
  /** This and the next two: absent in the store. */
  readonly nextStep?: NextStep;
  /** The budgets that hold an approval back now. */
  readonly heldBackBy?: readonly string[];
  readonly rule?: GoverningRule | null;
  /** Present only for a drill. */
  readonly drill?: true;
}

/** An approval of `GET /v1/events`; the store does not have `waitingFor`. */
export interface ShownApproval {
  readonly state: string;
  readonly approvedBy: readonly string[];
  readonly waitingFor?: readonly string[];
  readonly holds: readonly { readonly approver: string }[];
}

export interface ShownReload {
  /** RFC 3339. */
  readonly at: string;
  /** This and the next two are only for readers. */
  readonly by?: string;
  readonly faults?: readonly { readonly path: string; readonly message: string }[];
  readonly restart?: readonly string[];
}

export interface StatusView {
  /** This and the next three are null if neither a reader's route nor the store tells them. */
  readonly vm: MachineView['vm'] | null;
  readonly version: string | null;
  readonly dryRun: boolean | null;
  /** The hold of everything; null if none stands, or if it is hidden from this caller. */
  readonly heldAll: MachineView['heldAll'];
  readonly clock: MachineView['clock'] | null;
  readonly certificates: MachineView['certificates'];
  readonly ready: boolean;
  /** Why the bridge is not ready. */
  readonly reasons: readonly string[];
  readonly isRunning: boolean;
  /** The origin of everything except `/readyz`: the routes for readers, the store, or null for neither. */
  readonly from: 'bridge' | 'store' | null;
  readonly state: 'watching' | 'enabling' | 'blind' | null;
  readonly documentIncarnation: number | null;
  /** Of the last good document, RFC 3339. */
  readonly observedAt: string | null;
  readonly documentAgeSeconds: number | null;
  readonly events: readonly ShownEvent[] | null;
  readonly sinks: readonly ShownSink[] | null;
  /** By name, from `/readyz`, which needs no token. */
  readonly sinkStates: Readonly<Record<string, string>> | null;
  readonly deadLetters: number | null;
  readonly configuration: { readonly since: string; readonly refused: ShownReload | null } | null;
}

const TIMEOUT_MS = 5000;

type Ready = Pick<StatusView, 'ready' | 'reasons' | 'configuration'> & {
  readonly sinks: Readonly<Record<string, { state: string }>>;
};
type Events = Pick<
  StatusView,
  | 'vm'
  | 'version'
  | 'dryRun'
  | 'heldAll'
  | 'clock'
  | 'certificates'
  | 'state'
  | 'documentIncarnation'
  | 'observedAt'
  | 'events'
>;

/** Parts from `/v1` are null if this caller may not read them. Rejects if no bridge answers. */
export async function statusOfBridge(
  context: VerbContext,
  requestTo: (path: string) => BridgeRequest,
): Promise<StatusView> {
  const [ready, events, sinks] = await Promise.all(
    ['/readyz', '/v1/events', '/v1/sinks'].map((path) => askJson(requestTo(path), context)),
  );
  if (!isReady(ready)) throw new Error('the answer of /readyz is not that of a bridge');
  return viewOf(context, ready, events as Events | null, sinks as readonly ShownSink[] | null);
}

function viewOf(
  { deps }: VerbContext,
  ready: Ready,
  events: Events | null,
  sinks: readonly ShownSink[] | null,
): StatusView {
  const observedAt = events?.observedAt ?? null;
  return {
    vm: events?.vm ?? null,
    version: events?.version ?? null,
    dryRun: events?.dryRun ?? null,
    heldAll: events?.heldAll ?? null,
    clock: events?.clock ?? null,
    certificates: events?.certificates ?? [],
    ready: ready.ready,
    reasons: ready.reasons,
    isRunning: true,
    from: events === null ? null : 'bridge',
    state: events?.state ?? null,
    documentIncarnation: events?.documentIncarnation ?? null,
    observedAt,
    documentAgeSeconds:
      observedAt === null ? null : Math.max(0, Math.round((deps.wallMs() - Date.parse(observedAt)) / 1000)),
    events: events?.events ?? null,
    sinks,
    sinkStates: Object.fromEntries(Object.entries(ready.sinks).map(([name, { state }]) => [name, state])),
    deadLetters: sinks === null ? null : sinks.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    configuration: ready.configuration,
  };
}

/** Returns null for a caller without rights, or a listener without the route. */
async function askJson(request: BridgeRequest, context: VerbContext): Promise<unknown> {
  const { status, body } = await askBridge(request, context, TIMEOUT_MS);
  if ([401, 403, 404, 429].includes(status)) return null;
  const isAnswer = status === 200 || (status === 503 && String(request.url).endsWith('/readyz'));
  if (!isAnswer) throw new Error(`it answered ${status}`);
  return JSON.parse(body);
}

function isReady(value: unknown): value is Ready {
  return (
    isObject(value) &&
    typeof value['ready'] === 'boolean' &&
    Array.isArray(value['reasons']) &&
    isObject(value['sinks'])
  );
}

type StoreView = Omit<
  StatusView,
  'version' | 'dryRun' | 'clock' | 'certificates' | 'ready' | 'reasons' | 'isRunning' | 'sinkStates' | 'configuration'
>;

/** @throws BridgeError BRIDGE_STORE_* */
export function statusOfStore(context: VerbContext, file: string): Promise<StoreView> {
  return withStoreToRead(context, file, (outbox) => {
    const known = outbox.known.load();
    const approvals = new Map(outbox.approvals.open().map((approval) => [approval.occurrence, approval]));
    const sinks = [...outbox.sinks.types()].map(([name, type]) => sinkOf(outbox, name, type));
    const lastGoodMs = known.lastGoodAt?.wallMs ?? null;
    const { name, source } = outbox.identity.current;
    return {
      vm: { name, source },
      from: 'store',
      state: outbox.known.blindness() !== null ? 'blind' : lastGoodMs === null ? 'enabling' : 'watching',
      heldAll: heldAllOf(outbox.holdOfAll.load()),
      documentIncarnation: known.incarnation,
      observedAt: lastGoodMs === null ? null : toRfc3339Seconds(lastGoodMs),
      documentAgeSeconds:
        lastGoodMs === null ? null : Math.max(0, Math.round((context.deps.wallMs() - lastGoodMs) / 1000)),
      events: [...known.events.values()].map(({ key, event, occurrence }) => ({
        ...event,
        approval: approvalOf(approvals.get(occurrence)),
        ...(isDrill(key) && { drill: true as const }),
      })),
      sinks,
      deadLetters: sinks.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    };
  });
}

function approvalOf(approval: EventApproval | undefined): ShownApproval | null {
  if (approval === undefined) return null;
  const { state, votes, holds } = approval;
  return {
    state,
    approvedBy: votes.map(({ approver }) => approver),
    holds: holds.map(({ approver }) => ({ approver })),
  };
}

function sinkOf({ queue }: Outbox, name: string, type: string): ShownSink {
  const { queued, oldestQueuedAtMs, dead } = queue.backlog(name);
  const { pause, lastAcceptedAtMs, lastError } = queue.record(name);
  return {
    ...{ name, type, queued, deadLetters: dead },
    state: pause !== null ? 'paused' : queue.retirement(name) ? 'retired' : 'stopped',
    oldestAt: oldestQueuedAtMs === null ? null : toRfc3339(oldestQueuedAtMs),
    lastAcceptedAt: lastAcceptedAtMs === null ? null : toRfc3339(lastAcceptedAtMs),
    lastError: lastError && { code: lastError.code, message: lastError.message, at: toRfc3339(lastError.atMs) },
  };
}
