// A sink and its target → codes and names for its failures.
import type { BridgeErrorDetails, ErrorCode } from '../../src/errors.ts';

/** A sink's error code for each failure of this kit. */
export interface HttpCodes {
  /** Failures of the target or the network. */
  readonly unreachable: ErrorCode;
  readonly broken: ErrorCode;
  readonly timeout: ErrorCode;
  readonly tls: ErrorCode;
  readonly proxy: ErrorCode;
  /** Failures of the configuration. */
  readonly forbiddenAddress: ErrorCode;
  readonly tlsFiles: ErrorCode;
  /** Statuses of an answer. */
  readonly misconfigured: ErrorCode;
  readonly unavailable: ErrorCode;
  readonly refused: ErrorCode;
  readonly gone: ErrorCode;
  /** Failures of the token endpoint. */
  readonly tokenRefused: ErrorCode;
  readonly tokenUnavailable: ErrorCode;
}

/** The meaning of a status for the lane. */
export interface StatusMeaning extends Pick<BridgeErrorDetails, 'disposition' | 'scope'> {
  readonly failure: 'gone' | 'misconfigured' | 'refused' | 'unavailable';
  /** The remedy, for people. */
  readonly advice: string;
}

/** The sink and target of a failure. */
export interface HttpPlace {
  readonly codes: HttpCodes;
  /** The sink's name. */
  readonly sink: string;
  /** The target, such as `https://example.com`: only scheme and host of its URL. */
  readonly target: string;
  /** The key that contains its URL. */
  readonly key: string;
  /** The keys that contain its credentials. */
  readonly credentials: string;
  /** The meaning of statuses for this kind of service, instead of the table. */
  readonly statuses?: Readonly<Record<number, StatusMeaning>> | undefined;
}

/** Returns the name of the place for messages. */
export function whoOf({ sink, target }: Pick<HttpPlace, 'sink' | 'target'>): string {
  return `sink ${sink}: ${target}`;
}
