// The contract of approval sources: what the bridge gives a source, and what it expects of it.
import type { Logger } from 'pino';
import type { OptionFault } from '../src/schema/faults.ts';
import type { Schema } from '../src/schema/pieces.ts';
import type { Deps } from '../src/time/clock.ts';
import type { ChannelPlace } from './channel.ts';

/**
 * `each`: every bridge reads every message, with its own consumer group or subscription. `one`: the bridges share the
 * messages, as in a queue.
 */
export type Readers = 'each' | 'one';

/** A type of approval source, `approvals.sources.NAME`. Its `type` is that of the sink. */
export interface ApprovalSourceDefinition<Options> {
  /**
   * Checks the keys other than `type` and `approver`, and adds defaults. A strict object that includes `readers`. No
   * I/O.
   */
  readonly options: Schema<Options>;
  /** See `AdapterDefinition.secretFaults`. */
  secretFaults?(options: Options): readonly OptionFault[];
  readersOf(options: Options): Readers;
  /** Returns the place to which approvers send, for types at a broker. Secrets are resolved. No I/O. */
  channel?(options: Options): ChannelPlace;
  /**
   * Returns names for the queues or topics that are read, in any format. Two sources of one bridge with a common name
   * are a fault, because they would take each other's messages. The options have no faults, and their secrets are
   * resolved.
   */
  streamsOf(options: Options): readonly string[];
  /**
   * No I/O. Also called for sources that then receive nothing, such as in a check.
   * @throws BridgeError BRIDGE_CONFIG_INVALID if options that fit the schema contradict each other
   */
  create(options: Options, deps: ApprovalSourceDeps): ApprovalSource;
}

/** The bridge passes these to every source. */
export interface ApprovalSourceDeps extends Deps {
  /** The source's name in the configuration. */
  readonly name: string;
  /** Bound to the source's name. Secrets and messages must not be logged. */
  readonly logger: Logger;
  /**
   * Distinguishes the bridges of a group: the VM's name in lower case or, if that is unknown, an id from the store.
   * `unknown` in a check if the metadata service does not return the name; empty if only options are checked.
   */
  readonly observerId: string;
}

/** A message of the broker. */
export interface ApprovalMessage {
  /**
   * Identifies the message among all past and future messages of this source, and is the same at each redelivery.
   * Offsets start at 0 again after a topic is deleted and created again, so they need the broker's time as well. The
   * bridge stores the ids of settled messages for 400 days and ignores repeats.
   */
  readonly id: string;
  /** The position for logs, such as `{ topic, partition, offset }`, without any content of the message. */
  readonly place: Readonly<Record<string, string | number>>;
  /**
   * The body of an approval, either alone or as the data of a structured CloudEvent; null if the message has no body.
   */
  readonly body: Uint8Array | null;
  /**
   * The broker's time of sending, in whole milliseconds since 1970. Approvals that were sent before their event ended
   * approve nothing after that end.
   */
  readonly sentMs: number;
}

/**
 * The result for a message. `settle`: its effect is stored. `giveBack`: another reader may take it; only with readers
 * `one` and `canGiveBack`, and the bridge has already paused. An object: the message is rejected. It goes to the
 * dead-letter queue, or is skipped if there is none. The bridge has stored, logged and counted the rejection, so the
 * source does not log it.
 */
export type MessageVerdict = 'settle' | 'giveBack' | { readonly reason: string; readonly description: string };

/** Handles one message. Rejects if nothing can be stored; the message must then be delivered again. */
export type TakeMessage = (message: ApprovalMessage) => Promise<MessageVerdict>;

/**
 * Implemented by each source type. src/bridge/managed-source.ts adds the rest: the bridge calls nothing after `close`.
 */
export interface ApprovalSource {
  /**
   * Whether a message can be given back to the other readers. If false, no verdict is `giveBack`. If true, with readers
   * `one`, the bridge starts to receive only after it has read a document, so that other bridges handle the messages
   * until then.
   */
  readonly canGiveBack: boolean;
  /**
   * Checks if messages could be received. Receives and settles none, and moves no position. Returns and throws as
   * `Adapter.check`.
   */
  check(signal: AbortSignal): Promise<string | null>;
  /**
   * Connects, and receives messages until the abort or a failure. It rejects at once on abort, and with a BridgeError
   * on failure. It does not retry: the bridge calls it again after a back-off of at most 10 s, which depends on
   * `disposition`.
   *
   * For each ordered stream of the broker (partition, session), it calls `take` for one message at a time. If `take`
   * rejects, nothing can be stored. The source then settles neither this message nor later ones of the stream, and
   * `receive` rejects with that error. The next call receives the message again. After the abort, a message that was
   * taken may still be settled, and no other is taken.
   * @param ready called once per call of `receive`, when messages can arrive
   */
  receive(take: TakeMessage, signal: AbortSignal, ready: () => void): Promise<void>;
  /** Called once, after the abort has ended all calls. It has 2 s. Opens nothing. */
  close(): void | Promise<void>;
}
