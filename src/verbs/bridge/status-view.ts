// What `status` knows of a bridge; each part is null where it could not be had.
import type { SinkView } from '../../model/operators.ts';

/** As `GET /v1/sinks` has it; of a bridge that does not run, `stopped` unless it is paused or retired. */
export type ShownSink = Omit<SinkView, 'state'> & { readonly state: string };

export interface ShownEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventStatus: string;
  readonly resources: readonly string[];
  /** RFC 3339. */
  readonly notBefore: string | null;
  readonly approval: ShownApproval | null;
  /** Of a drill alone. */
  readonly drill?: true;
}

/** As `GET /v1/events` has it; the store alone does not tell whose yes is missing. */
export interface ShownApproval {
  readonly state: string;
  readonly approvedBy: readonly string[];
  readonly waitingFor?: readonly string[];
  readonly holds: readonly { readonly approver: string }[];
}

export interface RefusedReload {
  /** RFC 3339. */
  readonly at: string;
  /** These three for readers alone. */
  readonly by?: string;
  readonly faults?: readonly { readonly path: string; readonly message: string }[];
  readonly restart?: readonly string[];
}

export interface StatusView {
  readonly ready: boolean;
  /** Why not. */
  readonly reasons: readonly string[];
  readonly isRunning: boolean;
  /** Where this comes from, beside `/readyz`: the routes of readers, the store, or nowhere. */
  readonly from: 'bridge' | 'store' | null;
  readonly state: 'watching' | 'enabling' | 'blind' | null;
  readonly documentIncarnation: number | null;
  /** Of the last good document, RFC 3339. */
  readonly observedAt: string | null;
  readonly documentAgeSeconds: number | null;
  readonly events: readonly ShownEvent[] | null;
  readonly sinks: readonly ShownSink[] | null;
  /** By name, as `/readyz` tells it to everybody. */
  readonly sinkStates: Readonly<Record<string, string>> | null;
  readonly deadLetters: number | null;
  readonly configuration: { readonly since: string; readonly refused: RefusedReload | null } | null;
}
