// What the shared clauses of HTTP log sinks need → the types of a sink and its far side.
import type { TestContext } from 'node:test';
import type { Outcome } from '../../adapters/adapter.ts';
import type { ManagedAdapter } from '../../src/delivery/managed-adapter.ts';
import type { ReceiverOptions, WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import type { VirtualTime } from '../virtual/virtual-time.ts';
import type { TestDeps } from './adapter-deps.ts';
import type { Sample } from './sample-deliveries.ts';

type Options = Readonly<Record<string, unknown>>;

export interface HttpSinkSetup {
  /** Replaces options of the sink. */
  readonly options?: Options;
  /** The sink's clock. */
  readonly time?: VirtualTime;
  /** Options of the far side's HTTP server. */
  readonly server?: ReceiverOptions;
}

/** A sink and its far side, which is read without the sink's help. */
export interface HttpSink {
  readonly adapter: ManagedAdapter;
  readonly deps: TestDeps;
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
  /** The HTTP server of the far side. */
  readonly receiver: WebhookReceiver;
  /** The id and description of each event that the far side stored, in order, with repeats. */
  readonly arrivals: () => readonly { readonly id: unknown; readonly description: unknown }[];
  /** From now on, the far side rejects events that contain this text. */
  readonly reject: (text: string) => void;
  /** From now on, the far side accepts only the credential `renewed`. */
  readonly renewCredential?: () => void;
  /** Requests to servers other than `receiver`. */
  readonly otherRequests?: () => number;
}

export interface HttpSinkUnderTest {
  /** The sink type and variant; goes into the titles. */
  readonly name: string;
  /** Starts a far side and a sink; cleans up by `t.after`. */
  readonly start: (t: TestContext, setup?: HttpSinkSetup) => Promise<HttpSink>;
  /** A clock for `start`. */
  readonly newTime?: () => VirtualTime;
  /** What arrives for a lone surrogate, which UTF-8 cannot encode: by default its JSON escape. */
  readonly loneSurrogate?: string;
  /**
   * A rejected event: the status of its dead letter; if accepted events of its batch are stored again; the number of
   * requests, if fixed.
   */
  readonly rejection: { readonly status: number | string; readonly makesRepeats: boolean; readonly requests?: number };
  /**
   * An option that names `file` as the credential, its first value, and the reason in the lane's status while it is
   * invalid.
   */
  readonly credential?: {
    readonly options: (file: string) => Options;
    readonly value: string;
    readonly reason: RegExp;
  };
  /** Options of a sink whose body the far side may not support, and the advice in the message of a 415. */
  readonly unsupportedBody?: { readonly options: Options; readonly advice: RegExp };
}
