// Dropped connections → log lines, one a minute for each of a few networks.
import type { Logger } from 'pino';
import type { DropReason } from '../../model/problems.ts';
import type { Deps } from '../../time/clock.ts';

const MINUTE_MS = 60_000;
/** A caller with many addresses must not fill the log; the metric counts all. */
const NETWORKS = 16;

const WORDS: Readonly<Record<DropReason, string>> = {
  crowded:
    'those connections that waited longest for their client, or sent the most requests ahead, were closed to make room for others',
  full: 'connections were refused: requests are under way on as many as there may be',
  unread: 'connections were closed whose answers nobody read',
};

export class DropLog {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  readonly #logger: Logger;
  /** When each network was last logged. */
  readonly #told = new Map<string, number>();

  constructor(deps: Pick<Deps, 'elapsedMs'>, logger: Logger) {
    this.#deps = deps;
    this.#logger = logger;
  }

  /** @param setting the listener: `http.listen` or `http.health` */
  dropped(setting: string, address: string, reason: DropReason): void {
    const nowMs = this.#deps.elapsedMs();
    for (const [network, atMs] of this.#told) if (nowMs - atMs >= MINUTE_MS) this.#told.delete(network);
    if (this.#told.has(address) || this.#told.size >= NETWORKS) return;
    this.#told.set(address, nowMs);
    this.#logger.warn({ address, reason }, `${setting}: ${WORDS[reason]}`);
  }
}
