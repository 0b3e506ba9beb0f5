// Broker messages → recorded, refused, kept or given back; on disk before the broker is answered.

import type { Logger } from 'pino';
import type { ApprovalMessage, MessageVerdict } from '../../../adapters/approval-source.ts';
import { BridgeError, isStoreFault } from '../../errors.ts';
import type { ApprovalOrigin, MessageRefusal, MessageResult, ReceivedMessage } from '../../model/approvals.ts';
import { viaSource } from '../../model/hold-owner.ts';
import { type Deps, now, sleep } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';
import { refusedChange } from '../record/approval-change.ts';
import { type Refusal, refusal } from '../requests/answer.ts';
import type { ApprovalCommand } from '../requests/approval-command.ts';
import type { Authorization } from '../requests/authorization.ts';
import { type MayCome, whatMayCome } from '../requests/check.ts';
import { parseMessageBody } from '../requests/message-body.ts';
import { type MessageRequests, parseMessageRequests } from '../requests/message-requests.ts';
import { withoutOtherDrills } from '../requests/other-drills.ts';
import type { ApprovalStore, ApprovalTransaction } from '../store.ts';
import { ParkedMessages } from './parked-messages.ts';

/** Before a message goes back to the other readers, so that the broker's count of deliveries lasts (behaviour 8.12). */
const LEAST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 5000;

const FULL_TOLD_EACH_MS = 60_000;

/** What a message is kept for, or left to others. */
const WHATEVER_MAY_COME: readonly MayCome[] = ['event', 'update'];

/** What one that is kept is tried again for: it does not stand in the way of later ones. */
const WHATEVER_COMES_LATER: readonly MayCome[] = [...WHATEVER_MAY_COME, 'answer'];

/** Through whom a message comes. */
export interface MessageOrigin {
  /** The source's name. */
  readonly source: string;
  /** Who speaks through it. */
  readonly approver: string;
  /** Whether other readers may take what this bridge does not know. */
  readonly canGiveBack: boolean;
}

export interface InboxParts {
  readonly store: ApprovalStore;
  readonly ports: Pick<ApprovalPorts, 'events' | 'lastReadAt' | 'observerId' | 'isAuthorized'>;
  readonly deps: Deps;
  readonly logger: Logger;
  /** The checks of a request, for one that was sent at this time. */
  readonly check: (origin: ApprovalOrigin, requests: MessageRequests, sentMs: number) => readonly ApprovalCommand[] | Refusal;
  /** As `Commands.record`. @throws BridgeError BRIDGE_STORE_* */
  readonly record: (
    authorization: Authorization,
    acts: readonly ApprovalCommand[],
    also: (transaction: ApprovalTransaction) => void,
  ) => Refusal | null;
  /** Whether each bridge of a group reads the messages of this source. */
  readonly isShared: (source: string) => boolean;
  /** A message was refused. */
  readonly denied: (approver: string, refused: Refusal, from: Pick<ReceivedMessage, 'source' | 'place'>) => void;
  readonly onMessage: (source: string, result: MessageResult) => void;
  /** Resolves with the answers to what is on its way for these events, or after 2 s; null if nothing is. */
  readonly answerTo: (keys: readonly string[]) => Promise<void> | null;
}

/** Each message has one effect, however often it comes. */
export class Inbox implements Disposable {
  readonly #parts: InboxParts;
  readonly #parking: ParkedMessages;
  readonly #stop = new AbortController();
  /** By source. */
  readonly #toldFullMs = new Map<string, number>();

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#parking = new ParkedMessages(parts.deps, (message) => this.#tryAgain([message]));
  }

  /** Takes up what waited when the last process ended. @throws BridgeError BRIDGE_STORE_* */
  load(): void {
    for (const message of this.#parts.store.messages.parked()) this.#parking.add(message);
  }

  /** @throws BridgeError BRIDGE_STORE_* where nothing can be stored, BRIDGE_APPROVALS_CLOSED: the message is to come again. */
  async take({ source, approver, canGiveBack }: MessageOrigin, message: ApprovalMessage): Promise<MessageVerdict> {
    const { id, place, sentMs, body } = message;
    if (body === null) return this.#invalid(source, place, 'it has no body');
    const requests = requestsIn(body);
    if (typeof requests === 'string') return this.#invalid(source, place, requests);
    const received = { source, approver, id, place, sentMs, body, receivedAt: now(this.#parts.deps) };
    // What holds or releases an event is judged by the answer to what is on its way, in the order of the messages.
    const answer = this.#answerTo(requests);
    if (answer !== null) await answer;
    const verdict = this.#handle(received, requests);
    if (verdict !== null) return verdict;
    if (!canGiveBack) return await this.#parkOnceThereIsRoom(received, requests);
    await this.#pause();
    await this.#answerTo(requests);
    // This bridge has caught up by now: a message for an event that it knows is not given back.
    return this.#handle(received, requests, ['event']) ?? this.#told(source, 'given_back', 'giveBack');
  }

  /** A document has been handled: tries again what waits. Never throws. */
  lookAgain(): void {
    this.#tryAgain(this.#parking.messages());
    this.#parking.wake();
  }

  /** What waits is tried again after the next start. */
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
        if (this.#decide(message, requestsIn(message.body), waitsFor) !== null) this.#parking.remove(message);
      } catch (error) {
        // It fails for the others too; the store reports it.
        if (isStoreFault(error)) return;
        const { source, place } = message;
        this.#parts.logger.error({ source, place, err: error }, 'an approval that waits could not be taken further; it is tried again');
      }
    }
  }

  /** Null: not now, what it waits for may still come. */
  #handle(message: ReceivedMessage, requests: MessageRequests, waitsFor = WHATEVER_MAY_COME): MessageVerdict | null {
    if (this.#stop.signal.aborted)
      throw new BridgeError('BRIDGE_APPROVALS_CLOSED', 'The bridge is stopping and takes no approvals; the message comes again.');
    const { store, ports } = this.#parts;
    const { source, approver } = message;
    if (!ports.isAuthorized({ approver, via: viaSource(source) }, null))
      throw new BridgeError('BRIDGE_APPROVALS_CLOSED', `Source ${source} may no longer act for ${approver}; the message comes again.`);
    const earlier = store.messages.find(message.source, message.id);
    if (earlier !== null) return this.#told(message.source, 'repeated', (earlier.kind === 'handled' && earlier.refusal) || 'settle');
    return ports.lastReadAt() === null ? null : this.#decide(message, requests, waitsFor);
  }

  /** Null where something may still come that it waits for. */
  #decide(message: ReceivedMessage, asked: MessageRequests | string, waitsFor: readonly MayCome[]): MessageVerdict | null {
    const { store, ports, deps, check, record, isShared } = this.#parts;
    const { source, approver, sentMs } = message;
    if (typeof asked === 'string') return this.#refuse(message, refusal('bad-request', asked));
    const origin = { approver, via: viaSource(source), isShared: isShared(source) };
    const requests = origin.isShared ? withoutOtherDrills(asked, (key) => this.#isKnown(key)) : asked;
    if (requests === null) return this.#passOver(message);
    const acts = check(origin, requests, sentMs);
    if ('kind' in acts) {
      const mayCome = whatMayCome(acts, requests.starts, { store, sentMs });
      return mayCome !== null && waitsFor.includes(mayCome) ? null : this.#refuse(message, acts);
    }
    const authorization: Authorization = { origin, isValid: (event) => ports.isAuthorized(origin, event) };
    const revoked = record(authorization, acts, (transaction) => transaction.handleMessage(message, null, deps.wallMs()));
    return revoked === null ? this.#told(source, 'settled', 'settle') : this.#refuse(message, revoked);
  }

  #isKnown(key: string): boolean {
    const { ports, store } = this.#parts;
    return ports.events().has(key) || store.known.lastEndedMs(key) !== null;
  }

  #passOver(message: ReceivedMessage): MessageVerdict {
    const { store, deps } = this.#parts;
    store.commit((transaction) => transaction.handleMessage(message, null, deps.wallMs()));
    return this.#told(message.source, 'settled', 'settle');
  }

  #refuse(message: ReceivedMessage, refused: Refusal): MessageVerdict {
    const { store, deps, denied } = this.#parts;
    const verdict: MessageRefusal = { reason: refused.type, description: refused.detail };
    store.commit((transaction) => {
      const { eventId, type: reason } = refused;
      if (eventId !== undefined) transaction.publish([refusedChange({ approver: message.approver, eventId, reason }, this.#parts)]);
      transaction.handleMessage(message, verdict, deps.wallMs());
    });
    denied(message.approver, refused, message);
    return this.#told(message.source, 'refused', verdict);
  }

  /** Nothing is dropped for want of room: the source reads on once an earlier message is settled, which takes a minute at most. */
  async #parkOnceThereIsRoom(message: ReceivedMessage, requests: MessageRequests): Promise<MessageVerdict> {
    if (!this.#parking.hasRoom(message)) this.#tellFull(message.source);
    while (!this.#parking.hasRoom(message)) {
      await this.#parking.changed();
      await this.#answerTo(requests);
      const verdict = this.#handle(message, requests);
      if (verdict !== null) return verdict;
    }
    return this.#park(message);
  }

  /** Once a minute at most. */
  #tellFull(source: string): void {
    const { deps, logger } = this.#parts;
    const nowMs = deps.elapsedMs();
    if (nowMs - (this.#toldFullMs.get(source) ?? Number.NEGATIVE_INFINITY) < FULL_TOLD_EACH_MS) return;
    this.#toldFullMs.set(source, nowMs);
    logger.warn({ source }, 'too many approvals of a source name what this bridge has not read: the next ones are read once there is room');
  }

  #park(message: ReceivedMessage): MessageVerdict {
    const { store, logger } = this.#parts;
    store.commit((transaction) => transaction.parkMessage(message));
    this.#parking.add(message);
    const { source, place, approver } = message;
    logger.info({ source, place, approver }, 'an approval names what this bridge has not read yet: it is kept for some time');
    return this.#told(source, 'parked', 'settle');
  }

  #invalid(source: string, place: ApprovalMessage['place'], fault: string): MessageVerdict {
    this.#parts.logger.warn({ source, place, reason: fault }, 'a message is no approval and is passed over');
    return this.#told(source, 'invalid', { reason: 'bad-request', description: `The message is no approval: ${fault}.` });
  }

  #told(source: string, result: MessageResult, verdict: MessageVerdict): MessageVerdict {
    this.#parts.onMessage(source, result);
    return verdict;
  }

  /** Ends early when the bridge stops. */
  async #pause(): Promise<void> {
    const { deps } = this.#parts;
    const pauseMs = LEAST_PAUSE_MS + deps.random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS);
    await sleep(deps, pauseMs, this.#stop.signal).catch(() => {});
  }
}

/** A text is what is wrong. */
function requestsIn(body: Uint8Array): MessageRequests | string {
  const parsed = parseMessageBody(body);
  return 'fault' in parsed ? parsed.fault : parseMessageRequests(parsed.value);
}
