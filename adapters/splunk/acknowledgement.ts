// The id of a posted batch → resolved once the indexer has acknowledged it.
import type { BridgeError } from '../../src/errors.ts';
import { type Deps, sleep } from '../../src/time/clock.ts';
import type { SinkDoors } from '../http/http-sink.ts';
import { type CollectorAnswer, collectorFault, readAnswer } from './collector-answer.ts';

/** Between questions; it doubles up to the longest. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5000;

/** Asks for what this process sent, on a channel of its own. Without a delivery there is no timer. */
export class Acknowledgement {
  readonly headers: Readonly<Record<string, string>>;
  readonly #path: string;
  readonly #deps: Pick<Deps, 'after'>;
  /** The token is known to acknowledge: what is sent with one that does not would be sent again and again. */
  #isConfirmed = false;

  constructor(deps: Pick<Deps, 'after' | 'random'>) {
    const channel = uuid(deps.random);
    this.headers = { 'x-splunk-request-channel': channel };
    this.#path = `/services/collector/ack?channel=${channel}`;
    this.#deps = deps;
  }

  /** Asks of nothing, once. @throws BridgeError where the token does not acknowledge */
  async confirm(doors: SinkDoors): Promise<void> {
    if (this.#isConfirmed) return;
    const { fault } = await this.#ask(0, doors);
    if (fault !== null) throw fault;
    this.#isConfirmed = true;
  }

  /** Until it is there, or the time of the delivery is over. @throws BridgeError where it will not come */
  async wait(id: number | null, doors: SinkDoors): Promise<void> {
    if (id === null) {
      this.#isConfirmed = false;
      throw doors.faults.noAnswer(200, 'an ackId');
    }
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const { acks, fault } = await this.#ask(id, doors);
      if (acks?.[id] === true) return;
      if (fault !== null && fault.disposition !== 'retry') throw fault;
      await sleep(this.#deps, pauseMs, doors.signal);
    }
  }

  async #ask(id: number, { post, faults }: SinkDoors): Promise<Pick<CollectorAnswer, 'acks'> & { readonly fault: BridgeError | null }> {
    const headers = { 'content-type': 'application/json', ...this.headers };
    const answer = await post({ path: this.#path, headers, body: JSON.stringify({ acks: [id] }) });
    const { acks } = readAnswer(answer);
    return { acks, fault: acks === null ? (collectorFault(answer, faults, false) ?? faults.noAnswer(answer.status, 'acks')) : null };
  }
}

/** Version 4 (RFC 9562, section 5.4). */
function uuid(random: () => number): string {
  const digits = Array.from({ length: 32 }, (_, index) => {
    const digit = Math.floor(random() * 16) & 15;
    if (index === 12) return 4;
    return index === 16 ? 8 | (digit & 3) : digit;
  });
  const hex = digits.map((digit) => digit.toString(16)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
