// A bridge, or its store without it → the data that `status` shows; a part is null if it is not available.
import type { SinkView } from '../../model/operators.ts';

/** A sink of `GET /v1/sinks`; from the store, its state is `paused`, `retired` or else `stopped`. */
export type ShownSink = Omit<SinkView, 'state'> & { readonly state: string };

export interface ShownEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventStatus: string;
  readonly resources: readonly string[];
  /** RFC 3339. */
  readonly notBefore: string | null;
  readonly approval: ShownApproval | null;
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

export interface RefusedReload {
  /** RFC 3339. */
  readonly at: string;
  /** This and the next two are only for readers. */
  readonly by?: string;
  readonly faults?: readonly { readonly path: string; readonly message: string }[];
  readonly restart?: readonly string[];
}

export interface StatusView {
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
  readonly configuration: { readonly since: string; readonly refused: RefusedReload | null } | null;
}
