// A sink's configuration → its adapter, with what the store keeps for it.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { AdapterMemory, DeliveryNotes, EventsInView } from '../../../adapters/adapter.ts';
import type { Config } from '../../config/config.ts';
import { type ManagedAdapter, manageAdapter } from '../../delivery/managed-adapter.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { Deps } from '../../time/clock.ts';

export interface AdapterParts {
  readonly deps: Deps;
  readonly logger: Logger;
  readonly stdout: Writable;
  /** Without it the adapter remembers nothing, as where its options are judged or its sink is only reached for. */
  readonly memory?: AdapterMemory;
  readonly notes?: DeliveryNotes;
  /** Without it nothing is ever in view. */
  readonly events?: EventsInView;
}

/** @throws BridgeError BRIDGE_CONFIG_INVALID where options that fit the schema cannot work together. */
export function createAdapter(
  name: string,
  config: Pick<Config, 'sinks'>,
  { deps, logger, stdout, memory = NO_MEMORY, notes = NO_NOTES, events = NO_VIEW }: AdapterParts,
): ManagedAdapter {
  const sink = config.sinks[name];
  if (sink === undefined) throw new RangeError(`no sink ${name}`);
  const { adapter, options, directory, env } = sink;
  return manageAdapter(adapter.create(options, { ...deps, name, logger, stdout, memory, notes, events, directory, env }), name);
}

const NO_MEMORY: AdapterMemory = { read: () => null, write: () => undefined };
const NO_VIEW: EventsInView = { ownName: () => null, isInView: () => false, wasSeen: () => true };
const NO_NOTES: DeliveryNotes = { all: () => [], write: () => undefined };

/** The text that a sink's adapter keeps between processes. What one of a configuration that is not in force any more writes is ignored. */
export function memoryOf(sink: string, outbox: Outbox, isInForce: () => boolean): AdapterMemory {
  return {
    read: () => (isInForce() ? outbox.sinks.consent(sink) : null),
    write: (text) => {
      if (isInForce()) outbox.sinks.saveConsent(sink, text);
    },
  };
}

/** What a sink's adapter notes about single deliveries. */
export function notesOf(sink: string, { notes }: Outbox): DeliveryNotes {
  return { all: () => notes.all(sink), write: (seq, text) => notes.write(sink, seq, text) };
}
