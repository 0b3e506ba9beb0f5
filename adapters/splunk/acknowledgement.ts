// The id of a posted batch → a promise that resolves when the indexer has acknowledged it.
import type { BridgeError } from '../../src/errors.ts';
import { type Deps, sleep } from '../../src/time/clock.ts';
import type { SinkContext } from '../http/http-sink.ts';
import { type CollectorAnswer, collectorFault, readAnswer } from './collector-answer.ts';

/** The pause between polls starts with the first value and doubles up to the longest. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5000;

/**
 * Polls for the acknowledgement of this process's batches, on a separate channel. Without a delivery there is no timer.
 */
export class Acknowledgement {
  readonly headers: Readonly<Record<string, string>>;
  readonly #path: string;
  readonly #deps: Pick<Deps, 'after'>;
  /** Whether the token supports acknowledgement. Without that, the sink would send each batch again and again. */
  #isConfirmed = false;

  constructor(deps: Pick<Deps, 'after' | 'random'>) {
    const channel = uuid(deps.random);
    this.headers = { 'x-splunk-request-channel': channel };
    this.#path = `/services/collector/ack?channel=${channel}`;
    this.#deps = deps;
  }

  /**
   * Polls once without a batch, to check the token.
   * @throws BridgeError if the token does not support acknowledgement
   */
  async confirm(context: SinkContext): Promise<void> {
    if (this.#isConfirmed) return;
    const { fault } = await this.#poll(0, context);
    if (fault !== null) throw fault;
    this.#isConfirmed = true;
  }

  /**
   * Polls until the batch is acknowledged, or the time limit of the delivery aborts.
   * @throws BridgeError if no acknowledgement can come
   */
  async wait(id: number | null, context: SinkContext): Promise<void> {
    if (id === null) {
      this.#isConfirmed = false;
      throw context.faults.noAnswer(200, 'an ackId');
    }
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const { acks, fault } = await this.#poll(id, context);
      if (acks?.[id] === true) return;
      if (fault !== null && fault.disposition !== 'retry') throw fault;
      await sleep(this.#deps, pauseMs, context.signal);
    }
  }

  async #poll(
    id: number,
    { post, faults }: SinkContext,
  ): Promise<Pick<CollectorAnswer, 'acks'> & { readonly fault: BridgeError | null }> {
    const headers = { 'content-type': 'application/json', ...this.headers };
    const answer = await post({ path: this.#path, headers, body: JSON.stringify({ acks: [id] }) });
    const { acks } = readAnswer(answer);
    return {
      acks,
      fault: acks === null ? (collectorFault(answer, faults, false) ?? faults.noAnswer(answer.status, 'acks')) : null,
    };
  }
}

/** Returns a UUID of version 4 (RFC 9562, section 5.4). */
function uuid(random: () => number): string {
  const digits = Array.from({ length: 32 }, (_, index) => {
    const digit = Math.floor(random() * 16) & 15;
    if (index === 12) return 4;
    return index === 16 ? 8 | (digit & 3) : digit;
  });
  const hex = digits.map((digit) => digit.toString(16)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
