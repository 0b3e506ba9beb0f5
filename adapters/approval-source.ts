// The contract of the sources of approvals: what a source receives and how it settles messages.

import type { Logger } from 'pino';
import type { OptionFault } from '../src/schema/faults.ts';
import type { Schema } from '../src/schema/pieces.ts';
import type { Deps } from '../src/time/clock.ts';

/** `each`: every bridge reads every message (own consumer group or subscription). `one`: the readers share the messages, as those of a queue. */
export type Readers = 'each' | 'one';

/** A kind of place that approvals are read from, `approvals.sources.NAME`; its `type` is the sink's. */
export interface ApprovalSourceDefinition<Options> {
  /** A strict object: the keys beside `type` and `approver`, `readers` among them; defaults and faults; no I/O. */
  readonly options: Schema<Options>;
  /** As for a sink. */
  secretFaults?(options: Options): readonly OptionFault[];
  readersOf(options: Options): Readers;
  /**
   * What messages are taken from, in any words: two sources of one bridge that have one in common would take each other's messages. Of options
   * whose secrets are open, without faults.
   */
  streamsOf(options: Options): readonly string[];
  /** No I/O, and more often than it is received from. @throws BridgeError BRIDGE_CONFIG_INVALID where options that fit the schema cannot work together. */
  create(options: Options, deps: ApprovalSourceDeps): ApprovalSource;
}

/** What the bridge hands to every source. */
export interface ApprovalSourceDeps extends Deps {
  /** The source's name in the configuration. */
  readonly name: string;
  /** Already bound to the source's name. Never give it a secret or a message. */
  readonly logger: Logger;
  /**
   * The VM's name in lower case or, unknown, the id that the store keeps instead: what tells the bridges of a group apart. `unknown` in a
   * check where the metadata service does not tell the name; empty where only options are judged.
   */
  readonly observerId: string;
}

/** One message as the broker holds it. */
export interface ApprovalMessage {
  /**
   * The same each time this message is received, another one for each other message of this source that ever was or will be: what is
   * counted from 0 again once a topic was deleted and made anew needs the broker's time beside it. One that was dealt with is known for
   * 400 days, and does nothing when it comes again.
   */
  readonly id: string;
  /** Where it stands, for logs: `{ topic, partition, offset }`; nothing of what it says. */
  readonly place: Readonly<Record<string, string | number>>;
  /** The body of an approval, whole or as the data of a structured CloudEvent; null where the message has none. */
  readonly body: Uint8Array | null;
  /** When it was sent, in milliseconds since 1970, as the broker says; whole. One from before the end of its event approves nothing. */
  readonly sentMs: number;
}

/**
 * What becomes of a message: `settle`: it is dealt with, and that is on disk; `giveBack`: another reader may take it (only of readers `one`
 * and where the broker can, see `canGiveBack`), after a pause that has passed; otherwise refused for good, for the dead-letter queue where
 * there is one, else it is passed. A refusal is on disk, logged and counted by then: the source logs none of it.
 */
export type MessageVerdict = 'settle' | 'giveBack' | { readonly reason: string; readonly description: string };

/** Deals with one message. Rejects where nothing can be stored: the message is then to come again. */
export type TakeMessage = (message: ApprovalMessage) => Promise<MessageVerdict>;

/** What a kind of source implements. The bridge adds the rest (src/bridge/managed-source.ts): after `close` nothing is asked of it. */
export interface ApprovalSource {
  /**
   * Whether a message can go back to the other readers; where it cannot, it is never asked to. One that can, with readers `one`, is received
   * from only once this bridge has read a document, so that what it could not judge is left to the others.
   */
  readonly canGiveBack: boolean;
  /** Could messages be received? Receives none, settles none, moves no position. @returns and @throws as `Adapter.check`. */
  check(signal: AbortSignal): Promise<string | null>;
  /**
   * Receives until the abort, with which it rejects at once, or until something fails: then it rejects with a BridgeError, and whoever called
   * calls again, after a back-off of 10 s at most; `disposition` says how slowly. Connects at each call, and retries nothing by itself.
   * Calls `take` for one message at a time for each ordered stream of the broker's (partition, session). Where `take` rejects, nothing can be
   * stored: the message is not settled, nothing behind it in its stream is, and `receive` rejects with that error; it comes again with the
   * next call. After the abort a message that was taken may still be settled, and no other is taken.
   * `ready`: messages can come now; once for each call.
   */
  receive(take: TakeMessage, signal: AbortSignal, ready: () => void): Promise<void>;
  /** Called once, after all that ran has ended by its abort; has 2 s. Opens nothing. */
  close(): void | Promise<void>;
}
