// A bridge as the outside has it: what it is handed, what watches it, and what it is asked.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Transport } from '../metadata/transport.ts';
import type { OutboxOptions } from '../outbox/open-store.ts';
import type { Deps } from '../time/clock.ts';
import type { ConfigFile, Reloads } from './reloads.ts';
import type { Status } from './status.ts';

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

/** A running bridge. Its disposal stops polling, lets running deliveries end, and closes everything: 10 s at most, 16 s with adapters that need longer to close. */
export interface Bridge extends AsyncDisposable {
  /** `http://HOST:PORT`, `https://` with `http.tls`. */
  readonly url: string;
  /** Resolves when there is nothing left to do: the reader of the only sink, standard output, went away. */
  readonly ended: Promise<void>;
  readonly status: Status;
  /** Reads the configuration again; nobody who waits for it keeps a poll waiting. @param by who asks, for the log @throws BridgeError BRIDGE_STORE_* */
  reload(by: string): ReturnType<Reloads['request']>;
}
