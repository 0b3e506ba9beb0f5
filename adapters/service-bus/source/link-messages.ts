// One link's messages → received one or several at a time, settled by verdict, in order.
import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import type { Logger } from 'pino';
import { type Deps, orAbort, sleep } from '../../../src/time/clock.ts';
import type { ApprovalMessage, MessageVerdict } from '../../adapter.ts';
import type { BusClient } from '../connection/service-bus-client.ts';
import type { SourceEntity } from '../options/service-bus-source-options.ts';
import { approvalMessage } from './received-message.ts';
import { isLockLost } from './source-fault.ts';

/** Of a dead letter's reason and description, in characters: the service takes no more of either. */
const LONGEST_TEXT = 4096;
/** The shortest lock that can be configured lasts 5 s. Not by the time that the message tells, which is that of another clock. */
const RENEW_MS = 2000;

export type Take = (message: ApprovalMessage) => Promise<MessageVerdict>;

/** What the links of one call of `receive` share. */
export interface Line {
  readonly bus: BusClient;
  readonly entity: SourceEntity;
  readonly take: Take;
  readonly logger: Logger;
  /** From its abort on no message is taken. */
  readonly over: AbortSignal;
  /** From its abort on no verdict is waited for. */
  readonly hurry: AbortSignal;
  /** From its abort on nothing can be settled. */
  readonly dead: AbortSignal;
  /** Whether what is not taken goes back at once. Where nothing can be stored it keeps its lock: the service counts how often it comes. */
  readonly givesBack: () => boolean;
  /** Messages can come now. */
  readonly attached: () => void;
  /** Ends the call with this error, as it is; what was decided is settled still. */
  readonly fail: (error: unknown) => void;
  /** Ends the call because the link, or the connection, is of no use any more. */
  readonly die: (error: unknown) => void;
  /** What has to end before the connection does. */
  readonly track: <T>(work: Promise<T>) => Promise<T>;
  /**
   * One operation within its time limit, `moreMs` longer where it waits for something; `die` ends it too.
   * @throws what it throws, or BridgeError BRIDGE_SERVICE_BUS_TIMEOUT
   */
  readonly inTime: <T>(work: () => Promise<T>, moreMs?: number) => Promise<T>;
}

export type LineDeps = Pick<Deps, 'after' | 'wallMs'>;

/** A receiver of the SDK's, of a queue, a subscription or one session. */
export type Settler = Pick<ServiceBusReceiver, 'completeMessage' | 'abandonMessage' | 'deadLetterMessage'>;

export class LinkMessages {
  readonly #settler: Settler;
  readonly #line: Line;
  readonly #deps: LineDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settler: Settler, line: Line, deps: LineDeps) {
    this.#settler = settler;
    this.#line = line;
    this.#deps = deps;
  }

  /** True once it is dealt with: completed or dead-lettered. Never rejects. */
  async handle(message: ServiceBusReceivedMessage): Promise<boolean> {
    const verdict = await this.#verdictOn(message);
    if (verdict === null) return false;
    try {
      return (await this.#settleInTurn(message, verdict)) && verdict !== 'giveBack';
    } catch (error) {
      this.#line.die(error);
      return false;
    }
  }

  /** Null: neither dealt with nor given back. */
  async #verdictOn(message: ServiceBusReceivedMessage): Promise<MessageVerdict | null> {
    const { take, entity, over, hurry, fail, givesBack } = this.#line;
    try {
      if (!over.aborted) return await orAbort(take(approvalMessage(message, entity, this.#deps.wallMs())), hurry);
    } catch (error) {
      if (hurry.aborted) return 'giveBack';
      fail(error);
    }
    return givesBack() ? 'giveBack' : null;
  }

  /** rhea joins settlements of one moment into one that says the same of all of them, so each waits for the answer to the one before. */
  #settleInTurn(message: ServiceBusReceivedMessage, verdict: MessageVerdict): Promise<boolean> {
    const turn = this.#last.then(() => this.#settle(message, verdict));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** False where the message has gone elsewhere meanwhile. */
  async #settle(message: ServiceBusReceivedMessage, verdict: MessageVerdict): Promise<boolean> {
    const { inTime, logger, entity } = this.#line;
    try {
      await inTime(() => this.#send(message, verdict));
      return true;
    } catch (error) {
      if (!isLockLost(error)) throw error;
      logger.debug(
        { ...entity.place, sequenceNumber: message.sequenceNumber?.toString() },
        'the lock of a message was lost: it comes again',
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
export async function keepLocked(renew: () => Promise<unknown>, deps: LineDeps, until: AbortSignal): Promise<void> {
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
