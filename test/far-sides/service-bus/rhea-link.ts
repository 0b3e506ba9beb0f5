// rhea's links → what its types do not show: raw payloads, single dispositions, drains, attaches.
import { createRequire } from 'node:module';
import type { Connection, Delivery, Receiver, Sender } from 'rhea';
import rhea from 'rhea';

/** A condition, and what the service says about it. */
export interface AmqpFault {
  readonly condition: string;
  readonly description: string;
}

interface Described {
  described(): unknown;
}
interface Internals {
  readonly local: { readonly attach: Record<string, unknown>; readonly handle: number };
  readonly session: { output(frame: unknown): void };
  readonly state: { local_open: boolean; open_requests: number };
  set_source(fields: unknown): void;
  set_target(fields: unknown): void;
}
interface SenderInternals {
  credit: number;
  delivery_count: number;
  _draining: boolean;
  _get_drain(): boolean;
}
interface MutableDelivery {
  settled: boolean;
  remote_settled: boolean;
}
interface Transfer {
  readonly performative: { message_format: number | null };
}

const frames = createRequire(import.meta.url)('rhea/lib/frames.js') as { disposition(fields: object): unknown };
const outcomes = rhea.message as unknown as {
  accepted(): Described;
  released(): Described;
  modified(fields: object): Described;
  rejected(fields: { error?: AmqpFault }): Described;
  header(fields: object): Described;
};
const writers = rhea.types as unknown as {
  Writer: new () => { write(value: unknown): void; toBuffer(): Buffer };
  described(descriptor: unknown, value: unknown): unknown;
  wrap_ulong(value: number): unknown;
  wrap_symbolic_map(value: object): unknown;
  wrap(value: unknown): unknown;
};

/** Message formats: a plain message as it is marked for us, and Service Bus's batch. */
export const PLAIN_FORMAT = 1;
export const BATCH_FORMAT = 0x80013700;

/**
 * Makes rhea hand over the bytes of every message instead of its own reading of them: it does so for any format but 0.
 */
export function takeRawPayloads(connection: Connection): void {
  const onTransfer = connection['on_transfer'] as (frame: Transfer) => void;
  connection['on_transfer'] = (frame: Transfer) => {
    if (frame.performative.message_format === 0) frame.performative.message_format = PLAIN_FORMAT;
    onTransfer.call(connection, frame);
  };
}

/** An AmqpFault is `rejected` with it as its error. */
export type Outcome = 'accepted' | 'released' | 'modified' | 'rejected' | AmqpFault;

/** Settles one delivery in a frame of its own: rhea joins neighbours without comparing what it says about them. */
export function settle(delivery: Delivery, outcome: Outcome): void {
  const link = delivery.link as unknown as Internals & (Sender | Receiver);
  if (!link.connection.is_open()) return;
  const state =
    typeof outcome === 'object'
      ? outcomes.rejected({ error: outcome })
      : outcome === 'modified'
        ? outcomes.modified({ delivery_failed: true })
        : outcome === 'rejected'
          ? outcomes.rejected({})
          : outcomes[outcome]();
  forget(delivery);
  const [role, first] = [link.is_receiver(), delivery.id];
  link.session.output(frames.disposition({ role, first, last: first, settled: true, state: state.described() }));
}

/** Takes a delivery out of rhea's window without a word to the other side. */
export function forget(delivery: Delivery): void {
  const mutable = delivery as unknown as MutableDelivery;
  mutable.settled = true;
  mutable.remote_settled = true;
}

/** Answers an attach with the other side's own addresses and settle modes, and with `fields` besides. */
export function answerAttach(
  link: Sender | Receiver,
  fields: Readonly<Record<string, unknown>> = {},
  filter?: Readonly<Record<string, string>>,
) {
  const internals = link as unknown as Internals;
  const answer = { snd_settle_mode: link.snd_settle_mode, rcv_settle_mode: link.rcv_settle_mode, ...fields };
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) internals.local.attach[name] = value;
  internals.set_source({ address: link.source?.address, filter });
  internals.set_target({ address: link.target?.address });
  link.open();
}

/** Keeps rhea from answering an attach by itself. Has to be called before the event that told of it ends. */
export function holdAttach(link: Sender | Receiver): void {
  const { state } = link as unknown as Internals;
  state.local_open = false;
  state.open_requests -= 1;
}

/**
 * The credit of a link to the other side, counted by us: rhea's own count does not fall while messages wait in the same
 * tick.
 */
export class LinkCredit {
  readonly #sender: Sender & SenderInternals;
  #limit = 0;
  #sent = 0;

  constructor(sender: Sender) {
    this.#sender = sender as Sender & SenderInternals;
    // rhea answers a drain only while credit is left; the other side waits for the answer in any case.
    this.#sender._get_drain = () => {
      if (!this.#sender._draining) return false;
      this.#sender.delivery_count += this.#sender.credit;
      this.#sender.credit = 0;
      this.#sender._draining = false;
      return true;
    };
  }

  /** The other side wants what there is, and then an answer. */
  get isDraining(): boolean {
    return this.#sender._draining;
  }

  get available(): number {
    return this.#limit - this.#sent;
  }

  /** Reads a flow that has just arrived. */
  update(): void {
    this.#limit = this.#sender.delivery_count + this.#sender.credit;
  }

  spend(): void {
    this.#sent += 1;
  }

  /** Gives up what is left, and says so after what was sent before. */
  drain(): void {
    this.#sent = this.#limit;
    this.#sender.set_drained(true);
  }
}

/**
 * Header and message annotations as bytes; with the bare message behind them they are a whole message. Annotation
 * values as rhea wraps them.
 */
export function encodeHead(
  header: { readonly delivery_count: number; readonly ttl?: number },
  annotations: Record<string, unknown>,
): Buffer {
  const writer = new writers.Writer();
  writer.write(outcomes.header(header).described());
  writer.write(writers.described(writers.wrap_ulong(0x72), writers.wrap_symbolic_map(annotations)));
  return writer.toBuffer();
}

/** One application property as bytes: its key, and a string, number, boolean, date or buffer as rhea wraps them. */
export function encodeProperty(name: string, value: unknown): Buffer {
  const writer = new writers.Writer();
  writer.write(writers.wrap(name));
  writer.write(writers.wrap(value));
  return writer.toBuffer();
}
