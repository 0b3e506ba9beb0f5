// What the outside hands to a bridge: configuration, clocks, log, standard output, who watches.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Transport } from '../metadata/transport.ts';
import type { OutboxOptions } from '../outbox/open-store.ts';
import type { Deps } from '../time/clock.ts';
import type { ConfigFile } from './reloads.ts';

export interface BridgeOptions {
  readonly config: Config;
  /** What `reload` reads; nothing by default. */
  readonly file?: ConfigFile | null;
  readonly version: string;
  readonly deps: Deps;
  readonly logger: Logger;
  readonly logLinesDropped: () => number;
  /** Where the stdout sink writes. */
  readonly stdout: Writable;
  /** To the metadata service; HTTP on a connection of its own by default. */
  readonly transport?: Transport;
  /** For tests: a quick store, or one on a full disk. */
  readonly store?: Pick<OutboxOptions, 'synchronous' | 'maxPages'>;
  readonly watch?: PollWatch;
}

/** Learns that polls begin, ask the metadata service, and end. */
export interface PollWatch {
  begins(): void;
  /** A request leaves, be it a poll's or not. */
  asks(): void;
  ended(isDocument: boolean): void;
  /** A reload: requests and polls keep to other times from now on. */
  follows(limits: Pick<Config['metadata'], 'pollIntervalMs' | 'timeoutMs' | 'firstTimeoutMs'>): void;
}
