// One link's messages → received one or several at a time, settled by verdict, in order.
import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { orAbort, sleep } from '../../../src/time/clock.ts';
import type { MessageVerdict } from '../../adapter.ts';
import type { LinkDeps } from './link-probe.ts';
import { approvalMessage } from './received-message.ts';
import type { Reception } from './reception.ts';
import { isLockLost } from './source-fault.ts';

/** Of a dead letter's reason and description, in characters: the service takes no more of either. */
const LONGEST_TEXT = 4096;
/** The shortest lock that can be configured lasts 5 s. Not by the time that the message tells, which is that of another clock. */
const RENEW_MS = 2000;

/** A receiver of the SDK's, of a queue, a subscription or one session. */
export type Settler = Pick<ServiceBusReceiver, 'completeMessage' | 'abandonMessage' | 'deadLetterMessage'>;

export class LinkMessages {
  readonly #settler: Settler;
  readonly #reception: Reception;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settler: Settler, reception: Reception) {
    this.#settler = settler;
    this.#reception = reception;
  }

  /** True once it is dealt with: completed or dead-lettered. Never rejects. */
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

  /** Null: neither dealt with nor given back. */
  async #verdictOn(message: ServiceBusReceivedMessage): Promise<MessageVerdict | null> {
    const { options, deps, stopping, graceOver } = this.#reception;
    const { take, entity, stop } = options;
    try {
      if (!stopping.aborted) return await orAbort(take(approvalMessage(message, entity, deps.wallMs())), graceOver);
    } catch (error) {
      if (graceOver.aborted) return 'giveBack';
      this.#reception.fail(error);
    }
    // Where nothing can be stored it keeps its lock: the service counts how often it comes.
    return stop.aborted ? 'giveBack' : null;
  }

  /** rhea joins settlements of one moment into one that says the same of all of them, so each waits for the answer to the one before. */
  #settleInTurn(message: ServiceBusReceivedMessage, verdict: MessageVerdict): Promise<boolean> {
    const turn = this.#last.then(() => this.#settle(message, verdict));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** False where the message has gone elsewhere meanwhile. */
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

/** Renews a lock until the abort or until it is lost. */
export async function keepLocked(renew: () => Promise<unknown>, deps: LinkDeps, until: AbortSignal): Promise<void> {
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
