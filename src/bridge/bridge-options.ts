// The interface of a bridge: its options, its observers and its methods.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { MetadataTransport } from '../metadata/transport.ts';
import type { OutboxOptions } from '../outbox/open-store.ts';
import type { Deps } from '../time/clock.ts';
import type { ConfigFile, Reloads } from './reloads.ts';
import type { Status } from './status.ts';

export interface BridgeOptions {
  readonly config: Config;
  /** Reads the configuration for `reload`. Default: there is nothing to reload. */
  readonly file?: ConfigFile | null;
  readonly version: string;
  readonly deps: Deps;
  readonly logger: Logger;
  readonly logLinesDropped: () => number;
  /** The stream of the stdout sink. */
  readonly stdout: Writable;
  /** The transport to the metadata service. Default: HTTP on a separate connection. */
  readonly transport?: MetadataTransport;
  /** For tests: a fast store, or one on a full disk. */
  readonly store?: Pick<OutboxOptions, 'synchronous' | 'maxPages'>;
  readonly watch?: PollWatch;
}

/** Observes the start, the requests and the end of polls. */
interface PollWatch {
  begins(): void;
  /** The bridge sends a request, of a poll or not. */
  asks(): void;
  ended(isDocument: boolean): void;
  /** A reload has changed the times of requests and polls. */
  follows(limits: Pick<Config['metadata'], 'pollIntervalMs' | 'timeoutMs' | 'firstTimeoutMs'>): void;
}

/**
 * A running bridge. Disposal stops polling, waits for running deliveries and closes everything, within 10 s, or 16 s if
 * adapters need longer.
 */
export interface Bridge extends AsyncDisposable {
  /** `http://HOST:PORT`, `https://` with `http.tls`. */
  readonly url: string;
  /**
   * Resolves when there is nothing left to do, because standard output is the only sink and its reader has closed it.
   */
  readonly ended: Promise<void>;
  readonly status: Status;
  /**
   * Reads the configuration again. Does not delay polls.
   * @param by the requester, for the log
   * @throws BridgeError BRIDGE_STORE_*
   */
  reload(by: string): ReturnType<Reloads['request']>;
}
