// A source of approvals → what one call of its `receive` takes, and how that call ends.
import type { ApprovalMessage, MessageVerdict } from '../../adapters/approval-source.ts';
import type { ManagedSource } from '../../src/bridge/source-loop.ts';
import { poll } from '../support/poll.ts';

export interface OpenedSource {
  readonly source: ManagedSource;
  /** Everything it logged so far. */
  readonly logged: () => string;
}

/** What becomes of a message, `settle` by default. */
export type Verdict = (message: ApprovalMessage) => MessageVerdict | Promise<MessageVerdict>;

/** One call of `receive`. */
export class Reading {
  /** In the order in which they were taken, each with every time. */
  readonly messages: ApprovalMessage[] = [];
  /** What `receive` rejected with; undefined while it receives. */
  ended: unknown;
  isReady = false;
  readonly done: Promise<unknown>;
  readonly #abort = new AbortController();

  constructor(source: ManagedSource, verdict: Verdict = () => 'settle') {
    const take = async (message: ApprovalMessage) => {
      this.messages.push(message);
      return await verdict(message);
    };
    const ready = () => {
      this.isReady = true;
    };
    this.done = source.receive(take, this.#abort.signal, ready).catch((error: unknown) => {
      this.ended = error;
      return error;
    });
  }

  get texts(): string[] {
    return this.messages.map(textOf);
  }

  /** @throws what `receive` rejected with before */
  async ready(): Promise<this> {
    await poll(() => this.isReady || this.ended !== undefined, 'a source that is ready');
    if (!this.isReady) throw this.ended;
    return this;
  }

  /** Resolves once so many messages were taken. @throws what `receive` rejected with before */
  async until(count: number, withinMs?: number): Promise<void> {
    await poll(() => this.messages.length >= count || this.ended !== undefined, `message ${count}`, withinMs);
    if (this.messages.length < count) throw this.ended;
  }

  /** @returns what `receive` rejects with */
  async abort(reason?: unknown): Promise<unknown> {
    this.#abort.abort(reason);
    return await this.done;
  }
}

/** A message's body as text; `null` where it has none. */
export function textOf({ body }: ApprovalMessage): string {
  return body === null ? 'null' : Buffer.from(body).toString();
}
