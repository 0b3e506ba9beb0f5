// The store → all readers of its stream. Gets the journal at each use: it may be set aside.
import type { Logger } from 'pino';
import { Streams } from '../http/stream/streams.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Deps } from '../time/clock.ts';

export function openStreams(
  outbox: Pick<Outbox, 'journalPages'>,
  { deps, logger }: { deps: Pick<Deps, 'after' | 'elapsedMs'>; logger: Logger },
): Streams {
  const journal = {
    newest: () => outbox.journalPages.newest(),
    pruned: () => outbox.journalPages.pruned(),
    after: (position: number, limit: number, maxBytes: number) => outbox.journalPages.after(position, limit, maxBytes),
  };
  return new Streams({ journal, deps, logger: logger.child({ area: 'http' }) });
}
