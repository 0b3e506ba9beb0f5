// The store → all readers of its stream. Gets the journal at each use: it may be set aside.
import type { Logger } from 'pino';
import { Streams } from '../http/stream/streams.ts';
import type { Occurrence } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Deps } from '../time/clock.ts';

export interface StreamsParts {
  readonly deps: Pick<Deps, 'after' | 'elapsedMs'>;
  readonly logger: Logger;
  /** As `Status.listed`. */
  readonly listed: () => readonly Occurrence[] | null;
}

export function openStreams(outbox: Pick<Outbox, 'journalPages'>, { deps, logger, listed }: StreamsParts): Streams {
  const journal = {
    newest: () => outbox.journalPages.newest(),
    pruned: () => outbox.journalPages.pruned(),
    after: (position: number, limit: number, maxBytes: number) => outbox.journalPages.after(position, limit, maxBytes),
    notice: (event: Occurrence, position: number) => outbox.journalPages.notice(event, position),
    listed,
  };
  return new Streams({ journal, deps, logger: logger.child({ area: 'http' }) });
}
