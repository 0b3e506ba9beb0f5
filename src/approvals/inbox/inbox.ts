// Broker messages → recorded, refused, parked or given back; stored before the broker is answered.
import type { ApprovalMessage, MessageVerdict } from '../../../adapters/approval-source.ts';
import { BridgeError, isStoreFault } from '../../errors.ts';
import type { ApprovalOrigin, MessageRefusal, MessageResult, ReceivedMessage } from '../../model/approvals.ts';
import { viaSource } from '../../model/hold-owner.ts';
import { now, sleep } from '../../time/clock.ts';
import { refusedChange } from '../record/audit-trail.ts';
import type { RecordParts } from '../record/ledger.ts';
import { type Refusal, refusal } from '../requests/answer.ts';
import type { ApprovalAuthorization, ApprovalCommand } from '../requests/approval-command.ts';
import { type MayCome, whatMayCome } from '../requests/check.ts';
import { type MessageRequests, readMessageRequests, withoutOtherDrills } from '../requests/message-requests.ts';
import { eventNamedIn } from '../requests/named-event.ts';
import type { ApprovalTransaction } from '../store.ts';
import { ParkedMessages } from './parked-messages.ts';
import { refuseUnreadable } from './unreadable-message.ts';

/**
 * The pause before a message is given back, so that it does not use up the broker's delivery count (behaviour 8.12).
 */
const LEAST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 5000;

/** At most one warning per source in this time. */
const FULL_WARNING_INTERVAL_MS = 60_000;

/** A message that waits for one of these is parked or given back. */
const WHATEVER_MAY_COME: readonly MayCome[] = ['event', 'update'];

/** A parked message is retried for these: it does not block later ones. */
const WHATEVER_COMES_LATER: readonly MayCome[] = [...WHATEVER_MAY_COME, 'answer'];

export interface MessageOrigin {
  /** The name of the source. */
  readonly source: string;
  /** The approver that the source acts for. */
  readonly approver: string;
  /** Whether other readers may receive messages for events that this bridge does not know. */
  readonly canGiveBack: boolean;
}

interface InboxParts extends Pick<RecordParts, 'store' | 'ports' | 'deps' | 'logger'> {
  readonly check: (
    origin: ApprovalOrigin,
    requests: MessageRequests,
    sentMs: number,
  ) => readonly ApprovalCommand[] | Refusal;
  /** As `Commands.record`. @throws BridgeError BRIDGE_STORE_* */
  readonly record: (
    authorization: ApprovalAuthorization,
    commands: readonly ApprovalCommand[],
    also: (transaction: ApprovalTransaction) => void,
  ) => Refusal | null;
  /** Whether each bridge of a group reads the messages of this source. */
  readonly isShared: (source: string) => boolean;
  readonly denied: (approver: string, refused: Refusal, from: Pick<ReceivedMessage, 'source' | 'place'>) => void;
  readonly onMessage: (source: string, result: MessageResult) => void;
  /** As `ApproverRequests.answerTo`. */
  readonly answerTo: (keys: readonly string[]) => Promise<void> | null;
}

/** Handles each message once, even if the broker delivers it several times. */
export class Inbox implements Disposable {
  readonly #parts: InboxParts;
  readonly #parking: ParkedMessages;
  readonly #stop = new AbortController();
  /** By source. */
  readonly #warnedFullMs = new Map<string, number>();

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#parking = new ParkedMessages(parts.deps, (message) => this.#tryAgain([message]));
  }

  /** Loads the messages that the previous process parked. @throws BridgeError BRIDGE_STORE_* */
  load(): void {
    for (const message of this.#parts.store.messages.parked()) this.#parking.add(message);
  }

  /**
   * Handles one message.
   * @throws BridgeError BRIDGE_STORE_* if nothing can be stored, BRIDGE_APPROVALS_CLOSED if the bridge is stopping or
   * the source may no longer act for its approver; the source must then deliver the message again
   */
  async take({ source, approver, canGiveBack }: MessageOrigin, message: ApprovalMessage): Promise<MessageVerdict> {
    const received = {
      source,
      approver,
      ...message,
      body: message.body ?? new Uint8Array(),
      receivedAt: now(this.#parts.deps),
    };
    const requests = readMessageRequests(received.body);
    if (typeof requests === 'string') return this.#unreadable(received, requests);
    // Holds and releases depend on the answer to a StartRequest in flight, in the order of the messages.
    const answer = this.#answerTo(requests);
    if (answer !== null) await answer;
    const verdict = this.#handle(received, requests);
    if (verdict !== null) return verdict;
    if (!canGiveBack) return await this.#parkOnceThereIsRoom(received, requests);
    await this.#pause();
    await this.#answerTo(requests);
    // The bridge has read the document meanwhile: only a message for an unknown event is given back.
    return this.#handle(received, requests, ['event']) ?? this.#counted(source, 'given_back', 'giveBack');
  }

  /** To be called after each document: retries parked messages. Never throws. */
  lookAgain(): void {
    this.#tryAgain(this.#parking.messages());
    this.#parking.wake();
  }

  /** Parked messages are retried after the next start. */
  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#parking[Symbol.dispose]();
  }

  #answerTo({ holds, releases }: MessageRequests): Promise<void> | null {
    return this.#parts.answerTo([...holds, ...releases].map(({ key }) => key));
  }

  #tryAgain(waiting: readonly ReceivedMessage[]): void {
    if (this.#parts.ports.lastReadAt() === null) return;
    for (const message of waiting) {
      try {
        const waitsFor = this.#parking.isExpired(message) ? [] : WHATEVER_COMES_LATER;
        if (this.#decide(message, readMessageRequests(message.body), waitsFor) !== null) this.#parking.remove(message);
      } catch (error) {
        // The other messages would fail too; the store reports the fault.
        if (isStoreFault(error)) return;
        const { source, place } = message;
        this.#parts.logger.error(
          { source, place, err: error },
          'a parked approval could not be processed; the bridge will retry it',
        );
      }
    }
  }

  /** Returns null if something that the message waits for may still come. */
  #handle(message: ReceivedMessage, requests: MessageRequests, waitsFor = WHATEVER_MAY_COME): MessageVerdict | null {
    const earlier = this.#earlier(message);
    if (earlier !== null) return earlier;
    return this.#parts.ports.lastReadAt() === null ? null : this.#decide(message, requests, waitsFor);
  }

  /** Returns the verdict on a message that comes again, or null. @throws BridgeError BRIDGE_APPROVALS_CLOSED */
  #earlier(message: ReceivedMessage): MessageVerdict | null {
    if (this.#stop.signal.aborted) throw closed('The bridge is stopping and accepts no approvals.');
    const { store, ports } = this.#parts;
    const { source, approver, id } = message;
    if (!ports.isAuthorized({ approver, via: viaSource(source) }, null))
      throw closed(`Source ${source} may no longer act for ${approver}.`);
    const earlier = store.messages.find(source, id);
    return earlier && this.#counted(source, 'repeated', (earlier.kind === 'handled' && earlier.refusal) || 'settle');
  }

  /** As `#handle`. */
  #decide(
    message: ReceivedMessage,
    asked: MessageRequests | string,
    waitsFor: readonly MayCome[],
  ): MessageVerdict | null {
    const { store, ports, deps, check, record, isShared } = this.#parts;
    const { source, approver, sentMs } = message;
    if (typeof asked === 'string') return this.#refuse(message, refusal('bad-request', asked));
    const origin = { approver, via: viaSource(source), isShared: isShared(source) };
    const requests = origin.isShared ? withoutOtherDrills(asked, (key) => this.#isKnown(key)) : asked;
    if (requests === null) return this.#passOver(message);
    const commands = check(origin, requests, sentMs);
    if ('kind' in commands) {
      const mayCome = whatMayCome(commands, requests.starts, { store, sentMs });
      return mayCome !== null && waitsFor.includes(mayCome) ? null : this.#refuse(message, commands);
    }
    const authorization: ApprovalAuthorization = { origin, isValid: (event) => ports.isAuthorized(origin, event) };
    const revoked = record(authorization, commands, (transaction) =>
      transaction.handleMessage(message, null, deps.wallMs()),
    );
    return revoked === null ? this.#counted(source, 'settled', 'settle') : this.#refuse(message, revoked);
  }

  #isKnown(key: string): boolean {
    const { ports, store } = this.#parts;
    return ports.events().has(key) || store.known.lastEndedMs(key) !== null;
  }

  #passOver(message: ReceivedMessage): MessageVerdict {
    const { store, deps } = this.#parts;
    store.commit((transaction) => transaction.handleMessage(message, null, deps.wallMs()));
    return this.#counted(message.source, 'settled', 'settle');
  }

  #refuse(message: ReceivedMessage, refused: Refusal): MessageVerdict {
    const { store, deps, denied } = this.#parts;
    const verdict: MessageRefusal = { reason: refused.type, description: refused.detail };
    store.commit((transaction) => {
      const { eventId, type: reason } = refused;
      if (eventId !== undefined)
        transaction.publish([refusedChange({ approver: message.approver, eventId, reason }, this.#parts)]);
      transaction.handleMessage(message, verdict, deps.wallMs());
    });
    denied(message.approver, refused, message);
    return this.#counted(message.source, 'refused', verdict);
  }

  /**
   * Waits for room instead of dropping messages: the source continues when an earlier message is settled, after at most
   * a minute.
   */
  async #parkOnceThereIsRoom(message: ReceivedMessage, requests: MessageRequests): Promise<MessageVerdict> {
    if (!this.#parking.hasRoom(message)) this.#warnFull(message.source);
    while (!this.#parking.hasRoom(message)) {
      await this.#parking.changed();
      await this.#answerTo(requests);
      const verdict = this.#handle(message, requests);
      if (verdict !== null) return verdict;
    }
    return this.#park(message);
  }

  /** Logs at most once a minute. */
  #warnFull(source: string): void {
    const { deps, logger } = this.#parts;
    const nowMs = deps.elapsedMs();
    if (nowMs - (this.#warnedFullMs.get(source) ?? Number.NEGATIVE_INFINITY) < FULL_WARNING_INTERVAL_MS) return;
    this.#warnedFullMs.set(source, nowMs);
    logger.warn(
      { source },
      'too many approvals of a source name what this bridge has not read yet: the source pauses until there is room',
    );
  }

  #park(message: ReceivedMessage): MessageVerdict {
    const { store, logger } = this.#parts;
    store.commit((transaction) => transaction.parkMessage(message));
    this.#parking.add(message);
    const { source, place, approver } = message;
    logger.info(
      { source, place, approver },
      'an approval names an event or update that this bridge has not read yet: the bridge keeps it and retries',
    );
    return this.#counted(source, 'parked', 'settle');
  }

  #unreadable(message: ReceivedMessage, fault: string): MessageVerdict {
    const eventId = eventNamedIn(message.body, (key) => this.#isKnown(key));
    const earlier = eventId === null ? null : this.#earlier(message);
    return earlier ?? this.#counted(message.source, 'invalid', refuseUnreadable(message, eventId, fault, this.#parts));
  }

  #counted(source: string, result: MessageResult, verdict: MessageVerdict): MessageVerdict {
    this.#parts.onMessage(source, result);
    return verdict;
  }

  /** Returns early if the bridge stops. */
  async #pause(): Promise<void> {
    const { deps } = this.#parts;
    const pauseMs = LEAST_PAUSE_MS + deps.random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS);
    await sleep(deps, pauseMs, this.#stop.signal).catch(() => {});
  }
}

function closed(why: string): BridgeError {
  return new BridgeError('BRIDGE_APPROVALS_CLOSED', `${why} The source delivers the message again.`);
}
