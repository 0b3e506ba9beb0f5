// Messages of an entity → one receiver, as far as its credit goes; what it decides → the store.
import type { Delivery, EventContext, Sender } from 'rhea';
import { type Broker, spelledOut } from './broker.ts';
import { IdleWatch } from './idle-watch.ts';
import type { KeptMessage } from './kept-message.ts';
import type { Lock, Settlement } from './message-store.ts';
import type { ReceiveNode } from './namespace.ts';
import { forget, LinkCredit, type Outcome, settle } from './rhea-link.ts';
import { type Place, serviceFault } from './service-faults.ts';
import type { SessionLock } from './session-locks.ts';

const SETTLED_BY_SENDER = 1;

export class OutgoingLink {
  readonly place: Place;
  readonly link: Sender;
  readonly claim = 'Listen';
  readonly #broker: Broker;
  readonly #node: ReceiveNode;
  readonly #drop: () => void;
  readonly #idle: IdleWatch;
  readonly #session: SessionLock | null;
  readonly #credit: LinkCredit;
  readonly #locks = new Map<Delivery, Lock>();
  readonly #stopWaiting: () => void;

  /** The link has been attached; `session` is the lock it holds on a session. */
  constructor(
    broker: Broker,
    link: Sender,
    node: ReceiveNode,
    session: SessionLock | null,
    place: Place,
    drop: () => void,
  ) {
    this.place = place;
    this.link = link;
    this.#broker = broker;
    this.#node = node;
    this.#drop = drop;
    this.#idle = new IdleWatch(broker.clock, broker.linkIdleMs, () => link.close(spelledOut('detachForced', place)));
    this.#session = session;
    this.#credit = new LinkCredit(link);
    this.#stopWaiting = node.store.onMessage(() => this.#pump());
    link.on('sender_flow', () => this.#flow());
    for (const outcome of ['accepted', 'rejected', 'released', 'modified'] as const) {
      link.on(outcome, ({ delivery }: EventContext) => {
        if (delivery) this.#decide(delivery, outcome);
      });
    }
  }

  /** Whether a message that comes now would be sent. */
  get isWaiting(): boolean {
    return this.link.is_open() && this.#credit.available > 0;
  }

  /**
   * Messages stay locked until their locks run out; a session too where the connection was `cut`, else it is free at
   * once.
   */
  close(cut: boolean): void {
    this.#idle.stop();
    this.#stopWaiting();
    if (this.#session && !cut) this.#node.store.sessions.release(this.#session);
  }

  #flow(): void {
    this.#idle.touch();
    this.#credit.update();
    this.#pump();
    if (this.#credit.isDraining) this.#credit.drain();
  }

  #pump(): void {
    if (!this.link.is_open()) return;
    while (this.#credit.available > 0) if (!this.#sendNext()) return;
  }

  #sendNext(): boolean {
    const { store } = this.#node;
    const session = this.#session?.id ?? null;
    if (this.link.snd_settle_mode === SETTLED_BY_SENDER) {
      const message = store.take(session);
      if (message) this.#send(message.encode(null, message.deliveryCount), null).settled = true;
      return message !== null;
    }
    const lock = store.lock(session);
    if (lock) this.#locks.set(this.#send(lock.message.encode(lock.until, lock.earlierDeliveries), lock), lock);
    return lock !== null;
  }

  #send(raw: Buffer, lock: Lock | null): Delivery & { settled: boolean } {
    this.#idle.touch();
    this.#credit.spend();
    const tag = lock ? turned(Buffer.from(lock.token, 'hex')) : undefined;
    return this.link.send(raw, tag, 0) as Delivery & { settled: boolean };
  }

  #decide(delivery: Delivery, outcome: Told): void {
    this.#idle.touch();
    const lock = this.#locks.get(delivery);
    if (!lock) return;
    this.#locks.delete(delivery);
    const settlement = settlementOf(outcome, delivery.remote_state);
    const fault = this.#broker.faults.nextSettle(this.#node.path);
    if (fault && fault.do !== 'reject') {
      if (fault.settled) this.#node.store.settle(lock.token, settlement);
      this.#record(lock.message, settlement, fault.do);
      forget(delivery);
      if (fault.do === 'drop') this.#drop();
      if (fault.do === 'detach') this.link.close(spelledOut(fault.with ?? 'detachForced', this.place));
      return;
    }
    const done = fault ? spelledOut(fault.with, this.place) : this.#settle(lock, settlement, outcome);
    this.#record(lock.message, settlement, typeof done === 'string' ? 'accepted' : done.condition);
    settle(delivery, done);
  }

  /**
   * What was done is told by its own outcome, without an error: with one, the SDKs take their own `rejected` for a
   * refusal; that for Python wants the echo.
   */
  #settle(lock: Lock, settlement: Settlement, outcome: Told): Outcome {
    if (this.#node.store.settle(lock.token, settlement)) return outcome;
    return serviceFault(this.#session ? 'sessionLockLost' : 'messageLockLost', this.place);
  }

  #record(message: KeptMessage, { how }: Settlement, outcome: string): void {
    this.#broker.contacts.push({ what: 'settle', entity: this.#node.path, messageId: message.messageId, how, outcome });
  }
}

/** What a receiver can say of a delivery. */
type Told = Extract<Outcome, string>;

/** A lock token ↔ its delivery tag: .NET's GUIDs have the first three groups in little-endian order. */
export function turned(token: Buffer): Buffer {
  const groups = [token.subarray(0, 4), token.subarray(4, 6), token.subarray(6, 8)].map((group) =>
    Buffer.from(group).reverse(),
  );
  return Buffer.concat([...groups, token.subarray(8)]);
}

interface RemoteState {
  readonly undeliverable_here?: boolean;
  readonly message_annotations?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly info?: Readonly<Record<string, unknown>>; readonly description?: string };
}

function settlementOf(outcome: Told, state: unknown): Settlement {
  const { undeliverable_here, message_annotations, error } = (state ?? {}) as RemoteState;
  if (outcome === 'accepted') return { how: 'complete' };
  if (outcome === 'released') return { how: 'release' };
  if (outcome === 'modified')
    return { how: undeliverable_here ? 'defer' : 'abandon', properties: message_annotations ?? {} };
  const { DeadLetterReason, DeadLetterErrorDescription, ...properties } = error?.info ?? {};
  const text = (value: unknown) => (value === undefined || value === null ? null : String(value));
  return {
    how: 'dead-letter',
    reason: text(DeadLetterReason),
    description: text(DeadLetterErrorDescription),
    properties,
  };
}
