// A sink's configuration → its adapter, its stored memory and notes; leftover programs → stopped.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { AdapterMemory, DeliveryNotes, EventsInView } from '../../../adapters/adapter.ts';
import type { Config } from '../../config/config.ts';
import { type ManagedAdapter, manageAdapter } from '../../delivery/managed-adapter.ts';
import { messageOf } from '../../errors.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { Deps } from '../../time/clock.ts';

export interface AdapterParts {
  readonly deps: Deps;
  readonly logger: Logger;
  readonly stdout: Writable;
  /** Without it, the adapter has no memory, as in checks of options and connections. */
  readonly memory?: AdapterMemory;
  readonly notes?: DeliveryNotes;
  /** The values of the configuration's secrets. Without it, none. */
  readonly secrets?: () => readonly string[];
  /** Without it, `isInView` is always false. */
  readonly events?: EventsInView;
}

/** @throws BridgeError BRIDGE_CONFIG_INVALID if options that fit the schema contradict each other */
export function createAdapter(
  name: string,
  config: Pick<Config, 'sinks'>,
  { deps, logger, stdout, memory = NO_MEMORY, notes = NO_NOTES, events = NO_VIEW, secrets = () => [] }: AdapterParts,
): ManagedAdapter {
  const sink = config.sinks[name];
  if (sink === undefined) throw new RangeError(`no sink ${name}`);
  const { adapter, options, directory, env } = sink;
  return manageAdapter(
    adapter.create(options, { ...deps, name, logger, stdout, memory, notes, events, secrets, directory, env }),
    name,
  );
}

const NO_MEMORY: AdapterMemory = { read: () => null, write: () => undefined };
const NO_VIEW: EventsInView = { ownName: () => null, isInView: () => false, wasSeen: () => true };
const NO_NOTES: DeliveryNotes = { all: () => [], write: () => undefined };

/**
 * The text that a sink's adapter keeps between processes. Writes of an adapter with an earlier configuration are
 * ignored.
 */
export function memoryOf(sink: string, outbox: Outbox, isInForce: () => boolean): AdapterMemory {
  return {
    read: () => (isInForce() ? outbox.sinks.consent(sink) : null),
    write: (text) => {
      if (isInForce()) outbox.sinks.saveConsent(sink, text);
    },
  };
}

/** The notes of a sink's adapter about single deliveries. */
export function notesOf(sink: string, { notes }: Pick<Outbox, 'notes'>): DeliveryNotes {
  return { all: () => notes.all(sink), write: (seq, text) => notes.write(sink, seq, text) };
}

interface LeftBehindParts extends Pick<AdapterParts, 'deps' | 'logger'> {
  readonly config: Pick<Config, 'sinks' | 'kinds'>;
  readonly outbox: Pick<Outbox, 'notes'>;
}

/**
 * Stops leftover programs of sinks that were removed or have another type. The adapters of other sinks do it. Never
 * throws; logs failures.
 */
export function endLeftBehind({ config, outbox, deps, logger }: LeftBehindParts): void {
  try {
    for (const sink of outbox.notes.sinks()) {
      if (config.sinks[sink]?.adapter.endLeftBehind !== undefined) continue;
      const own = logger.child({ area: 'delivery', sink });
      for (const kind of config.kinds)
        void kind.endLeftBehind?.({ ...deps, logger: own, notes: notesOf(sink, outbox) });
    }
  } catch (error) {
    logger.warn(
      { area: 'delivery', reason: messageOf(error) },
      'the bridge cannot check if removed sinks left programs running: its next start checks again',
    );
  }
}
