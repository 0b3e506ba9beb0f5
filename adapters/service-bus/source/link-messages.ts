// A link's messages → approval messages, verdicts, and their settlements in order.
import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { orAbort, sleep } from '../../../src/time/clock.ts';
import type { ApprovalMessage, MessageVerdict } from '../../approval-source.ts';
import type { SourceEntity } from '../options/service-bus-source-options.ts';
import type { LinkDeps } from './link-probe.ts';
import type { Reception } from './reception.ts';
import { isLockLost } from './source-fault.ts';

/** Maximum length of a dead letter's reason and description, in characters. */
const LONGEST_TEXT = 4096;
/**
 * Renewal interval: the shortest lock lasts 5 s. The message's own lock time is not used, because it is from another
 * clock.
 */
const RENEW_MS = 2000;

/** The SDK's receiver of a queue, a subscription or one session. */
type Settler = Pick<ServiceBusReceiver, 'completeMessage' | 'abandonMessage' | 'deadLetterMessage'>;

export class LinkMessages {
  readonly #settler: Settler;
  readonly #reception: Reception;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settler: Settler, reception: Reception) {
    this.#settler = settler;
    this.#reception = reception;
  }

  /** Resolves with true if the message was completed or dead-lettered. Never rejects. */
  async handle(message: ServiceBusReceivedMessage): Promise<boolean> {
    const verdict = await this.#verdictOn(message);
    if (verdict === null) return false;
    try {
      return (await this.#settleInTurn(message, verdict)) && verdict !== 'giveBack';
    } catch (error) {
      this.#reception.lose(error);
      return false;
    }
  }

  /** Resolves with the verdict, or null if the message stays locked. */
  async #verdictOn(message: ServiceBusReceivedMessage): Promise<MessageVerdict | null> {
    const { options, deps, stopping, graceOver } = this.#reception;
    const { take, entity, stop } = options;
    try {
      if (!stopping.aborted) return await orAbort(take(approvalMessage(message, entity, deps.wallMs())), graceOver);
    } catch (error) {
      if (graceOver.aborted) return 'giveBack';
      this.#reception.fail(error);
    }
    // If the store cannot be written, the message keeps its lock, because the service counts deliveries.
    return stop.aborted ? 'giveBack' : null;
  }

  /**
   * Settles after the previous settlement is answered: rhea merges simultaneous settlements into one with the same
   * outcome for all.
   */
  #settleInTurn(message: ServiceBusReceivedMessage, verdict: MessageVerdict): Promise<boolean> {
    const turn = this.#last.then(() => this.#settle(message, verdict));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves with false if the lock was lost in the meantime. */
  async #settle(message: ServiceBusReceivedMessage, verdict: MessageVerdict): Promise<boolean> {
    const { options, deps } = this.#reception;
    try {
      await this.#reception.inTime(() => this.#send(message, verdict));
      return true;
    } catch (error) {
      if (!isLockLost(error)) throw error;
      deps.logger.debug(
        { ...options.entity.place, sequenceNumber: message.sequenceNumber?.toString() },
        'the lock of a message was lost: the message arrives again',
      );
      return false;
    }
  }

  #send(message: ServiceBusReceivedMessage, verdict: MessageVerdict): Promise<void> {
    if (verdict === 'settle') return this.#settler.completeMessage(message);
    if (verdict === 'giveBack') return this.#settler.abandonMessage(message);
    return this.#settler.deadLetterMessage(message, {
      deadLetterReason: cut(verdict.reason),
      deadLetterErrorDescription: cut(verdict.description),
    });
  }
}

/** Renews a lock until the signal aborts or the lock is lost. */
export async function renewLock(renew: () => Promise<unknown>, deps: LinkDeps, until: AbortSignal): Promise<void> {
  let isHeld = true;
  while (isHeld && !until.aborted) {
    await sleep(deps, RENEW_MS, until).catch(() => undefined);
    if (!until.aborted)
      isHeld = await renew().then(
        () => true,
        (error: unknown) => !isLockLost(error),
      );
  }
}

function cut(text: string): string {
  return text.slice(0, LONGEST_TEXT).toWellFormed();
}

/** The service's limit. */
const LONGEST_ID = 128;

/** @param nowMs the time of a message without one */
export function approvalMessage(
  message: ServiceBusReceivedMessage,
  { place }: SourceEntity,
  nowMs: number,
): ApprovalMessage {
  const { sequenceNumber, enqueuedTimeUtc } = message;
  // As text: numbers of partitioned entities are too large for a JavaScript number.
  const number = sequenceNumber?.toString() ?? '';
  const sentMs = enqueuedTimeUtc?.getTime();
  const messageId = textOf(message.messageId).slice(0, LONGEST_ID);
  return {
    // A recreated queue counts from 1 again, so the number alone is not unique.
    id: `${number}:${sentMs ?? ''}:${messageId}`,
    place: { ...place, sequenceNumber: number },
    body: bytesOf(message.body),
    sentMs: sentMs ?? nowMs,
  };
}

/**
 * Returns the body's bytes. SDKs send data sections; portals and other AMQP clients may send a text or binary value.
 */
function bytesOf(body: unknown): Uint8Array | null {
  if (body instanceof Uint8Array) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (Array.isArray(body) && body.length > 0 && body.every((section) => section instanceof Uint8Array))
    return Buffer.concat(body);
  return null;
}

function textOf(id: ServiceBusReceivedMessage['messageId']): string {
  if (id === undefined || typeof id === 'string') return id ?? '';
  return typeof id === 'number' ? String(id) : id.toString('hex');
}
