// A sink and what it asks → how codes and messages name the place where something failed.
import type { BridgeErrorDetails, ErrorCode } from '../../src/errors.ts';

/** The sink's own code for each failure of this kit. */
export interface HttpCodes {
  /** The other side, or the way to it. */
  readonly unreachable: ErrorCode;
  readonly broken: ErrorCode;
  readonly timeout: ErrorCode;
  readonly tls: ErrorCode;
  readonly proxy: ErrorCode;
  /** What the configuration says. */
  readonly forbiddenAddress: ErrorCode;
  readonly tlsFiles: ErrorCode;
  /** The status of an answer. */
  readonly misconfigured: ErrorCode;
  readonly unavailable: ErrorCode;
  readonly refused: ErrorCode;
  readonly gone: ErrorCode;
  /** The token endpoint. */
  readonly tokenRefused: ErrorCode;
  readonly tokenUnavailable: ErrorCode;
}

/** What a status asks of the lane. */
export interface StatusMeaning extends Pick<BridgeErrorDetails, 'disposition' | 'scope'> {
  readonly failure: 'gone' | 'misconfigured' | 'refused' | 'unavailable';
  /** What to do, for people. */
  readonly advice: string;
}

/** Who it happened to. */
export interface HttpPlace {
  readonly codes: HttpCodes;
  /** The sink's name. */
  readonly sink: string;
  /** What is asked, such as `https://example.com`; never more of a URL than scheme and host. */
  readonly target: string;
  /** The key that holds its URL. */
  readonly key: string;
  /** The keys that hold its credentials. */
  readonly credentials: string;
  /** What this kind of other side means by a status, in place of the table. */
  readonly statuses?: Readonly<Record<number, StatusMeaning>> | undefined;
}

/** How messages name the place. */
export function whoOf({ sink, target }: Pick<HttpPlace, 'sink' | 'target'>): string {
  return `sink ${sink}: ${target}`;
}
