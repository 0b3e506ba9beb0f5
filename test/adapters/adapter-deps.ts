// A test → what bridge.ts hands to an adapter: real or virtual time, a readable log, an output.
import { PassThrough, type Writable } from 'node:stream';
import { pino } from 'pino';
import type { AdapterDeps, AdapterMemory, DeliveryNotes, EventsInView } from '../../adapters/adapter.ts';
import type { Deps } from '../../src/time/clock.ts';
import { systemDeps } from '../../src/time/system.ts';

export interface TestDeps extends AdapterDeps {
  /** Everything logged so far. */
  readonly logged: () => string;
}

export interface AdapterDepsOptions {
  readonly time?: Deps;
  readonly stdout?: Writable;
  /** Empty by default. */
  readonly memory?: AdapterMemory;
  readonly notes?: DeliveryNotes;
  /** Nothing is in view by default. */
  readonly events?: EventsInView;
  /** The working directory by default. */
  readonly directory?: string;
  /** That of this process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Values of the configuration's secrets; none by default. */
  readonly secrets?: readonly string[];
}

/** Holds what was written last, for as many adapters as are given it: a store that outlives them. */
export function adapterMemory(text: string | null = null): AdapterMemory {
  let kept = text;
  return {
    read: () => kept,
    write: (written) => {
      kept = written;
    },
  };
}

/** Notes in memory, for as many adapters as are given them. */
export function deliveryNotes(): DeliveryNotes {
  const kept = new Map<number, string>();
  return {
    all: () => [...kept].map(([seq, text]) => ({ seq, text })),
    write: (seq, text) => {
      if (text === null) kept.delete(seq);
      else kept.set(seq, text);
    },
  };
}

export function adapterDeps({
  time = systemDeps(),
  stdout = new PassThrough(),
  memory = adapterMemory(),
  notes = deliveryNotes(),
  events = { ownName: () => null, isInView: () => false, wasSeen: () => true },
  directory = '.',
  env = process.env,
  secrets = [],
}: AdapterDepsOptions = {}): TestDeps {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const { wallMs, elapsedMs, after, random, scheduler } = time;
  const own = {
    name: 'under-test',
    logger,
    stdout,
    memory,
    notes,
    events,
    directory,
    env,
    secrets: () => secrets,
    logged: () => lines.join(''),
  };
  return { wallMs, elapsedMs, after, random, scheduler, ...own };
}
