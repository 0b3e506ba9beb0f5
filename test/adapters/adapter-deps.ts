// What bridge.ts hands to an adapter, for tests: real or virtual time, a log that can be read, a standard output of the test's own.
import { PassThrough, type Writable } from 'node:stream';
import { pino } from 'pino';
import type { AdapterDeps } from '../../adapters/adapter.ts';
import { systemDeps } from '../../src/system.ts';
import type { Deps } from '../../src/time.ts';

export interface TestDeps extends AdapterDeps {
  /** Everything logged so far. */
  readonly logged: () => string;
}

export function adapterDeps({ time = systemDeps(), stdout = new PassThrough() }: { time?: Deps; stdout?: Writable } = {}): TestDeps {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const { wallMs, elapsedMs, after, random, scheduler } = time;
  return { wallMs, elapsedMs, after, random, scheduler, name: 'under-test', logger, stdout, logged: () => lines.join('') };
}
