// Notes of sinks that were removed or have another type → their leftover programs, ended.
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Deps } from '../time/clock.ts';

export interface LeftBehindParts {
  readonly config: Pick<Config, 'sinks' | 'kinds'>;
  readonly outbox: Pick<Outbox, 'notes'>;
  readonly deps: Deps;
  readonly logger: Logger;
}

/** Skips sinks that still have such a type: their adapters do it. Never throws; logs failures. */
export function endLeftBehind({ config, outbox, deps, logger }: LeftBehindParts): void {
  try {
    for (const sink of outbox.notes.sinks()) {
      if (config.sinks[sink]?.adapter.endLeftBehind !== undefined) continue;
      const own = logger.child({ area: 'delivery', sink });
      const notes = {
        all: () => outbox.notes.all(sink),
        write: (seq: number, text: string | null) => outbox.notes.write(sink, seq, text),
      };
      for (const kind of config.kinds) void kind.endLeftBehind?.({ ...deps, logger: own, notes });
    }
  } catch (error) {
    logger.warn(
      { area: 'delivery', reason: messageOf(error) },
      'the bridge cannot check if removed sinks left programs running: its next start checks again',
    );
  }
}
