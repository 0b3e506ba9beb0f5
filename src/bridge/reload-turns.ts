// Requests to reload → one reload at a time, which answers all requests that waited for it.
import type { NotAllowed } from '../http/reload-route.ts';
import type { Reply } from '../http/route.ts';
import { type Deps, sleep } from '../time/clock.ts';

/** After a reload, the next one waits for this multiple of its duration, so that reloads leave time for other work. */
const REST_FACTOR = 4;
/** The longest wait between two reloads. */
const MAX_REST_MS = 1000;

/** Who asked for a reload, without repetition. */
export interface Requesters {
  /** All of them, for the log. */
  readonly names: readonly string[];
  /** Those that need the right to reload. */
  readonly admins: readonly string[];
}

interface ReloadTurnsParts<Outcome> {
  /** When the first reload may begin. */
  readonly ready: Promise<void>;
  /**
   * Reloads once.
   * @returns `settled`: the next reload may begin; it never rejects
   */
  readonly reload: (requesters: Requesters) => Promise<{ outcome: Outcome; settled: Promise<unknown> }>;
  readonly deps: Pick<Deps, 'after' | 'elapsedMs'>;
}

/** Resolves with a reply if the requester may not reload now. Null: it needs no right, such as a signal. */
type Refusal = (() => Promise<Reply | null>) | null;

interface Waiting<Outcome> {
  readonly by: string;
  readonly refusal: Refusal;
  readonly answer: PromiseWithResolvers<Outcome | NotAllowed>;
}

/**
 * Runs reloads one after another. Requests that arrive before a reload begins share it, and all get its outcome. So at
 * most one reload runs and one waits, however many requests arrive.
 */
export class ReloadTurns<Outcome> {
  readonly #parts: ReloadTurnsParts<Outcome>;
  #waiting: Waiting<Outcome>[] = [];
  #isRunning = false;
  /** In elapsed time. */
  #restUntilMs = 0;

  constructor(parts: ReloadTurnsParts<Outcome>) {
    this.#parts = parts;
  }

  /**
   * Resolves with the outcome of the next reload that begins. Rejects if that reload throws.
   * @param refusal called when the reload begins; a reply: `not-allowed`
   */
  request(by: string, refusal: Refusal): Promise<Outcome | NotAllowed> {
    const answer = Promise.withResolvers<Outcome | NotAllowed>();
    this.#waiting.push({ by, refusal, answer });
    if (!this.#isRunning) void this.#run();
    return answer.promise;
  }

  async #run(): Promise<void> {
    const { ready, deps } = this.#parts;
    this.#isRunning = true;
    await ready;
    while (this.#waiting.length > 0) {
      const restMs = this.#restUntilMs - deps.elapsedMs();
      if (restMs > 0) await sleep(deps, restMs);
      const waiting = this.#waiting;
      this.#waiting = [];
      await this.#reload(await allowed(waiting));
    }
    this.#isRunning = false;
  }

  async #reload(requests: readonly Waiting<Outcome>[]): Promise<void> {
    if (requests.length === 0) return;
    const { reload, deps } = this.#parts;
    const sinceMs = deps.elapsedMs();
    const rest = () => {
      const nowMs = deps.elapsedMs();
      this.#restUntilMs = nowMs + Math.min(MAX_REST_MS, REST_FACTOR * (nowMs - sinceMs));
    };
    try {
      const { outcome, settled } = await reload(requestersOf(requests));
      rest();
      for (const { answer } of requests) answer.resolve(outcome);
      await settled;
    } catch (error) {
      rest();
      for (const { answer } of requests) answer.reject(error);
    }
  }
}

function requestersOf(requests: readonly Pick<Waiting<unknown>, 'by' | 'refusal'>[]): Requesters {
  const names = requests.map(({ by }) => by);
  const admins = requests.filter(({ refusal }) => refusal !== null).map(({ by }) => by);
  return { names: [...new Set(names)], admins: [...new Set(admins)] };
}

/** Returns the requests whose senders still have the right, and answers the others. */
async function allowed<Outcome>(requests: readonly Waiting<Outcome>[]): Promise<readonly Waiting<Outcome>[]> {
  const judged = await Promise.all(
    requests.map(async (request) => {
      try {
        const reply = request.refusal === null ? null : await request.refusal();
        if (reply === null) return [request];
        request.answer.resolve({ kind: 'not-allowed', reply });
      } catch (error) {
        request.answer.reject(error);
      }
      return [];
    }),
  );
  return judged.flat();
}
