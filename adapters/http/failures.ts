// A sink and its target → codes and names for its failures.
import type { BridgeErrorDetails, ErrorCode } from '../../src/errors.ts';

/**
 * The error code of each failure. All kinds share these codes, because the remedies are the same. Only messages and
 * `status` differ.
 */
export const SINK_CODES = {
  unreachable: 'BRIDGE_SINK_UNREACHABLE',
  broken: 'BRIDGE_SINK_BROKEN',
  timeout: 'BRIDGE_SINK_TIMEOUT',
  tls: 'BRIDGE_SINK_TLS',
  proxy: 'BRIDGE_SINK_PROXY',
  forbiddenAddress: 'BRIDGE_SINK_FORBIDDEN_ADDRESS',
  tlsFiles: 'BRIDGE_SINK_TLS_FILES',
  misconfigured: 'BRIDGE_SINK_MISCONFIGURED',
  unavailable: 'BRIDGE_SINK_UNAVAILABLE',
  refused: 'BRIDGE_SINK_REFUSED',
  gone: 'BRIDGE_SINK_GONE',
  tokenRefused: 'BRIDGE_SINK_TOKEN_REFUSED',
  tokenUnavailable: 'BRIDGE_SINK_TOKEN_UNAVAILABLE',
} as const satisfies Readonly<Record<string, ErrorCode>>;

export type HttpCodes = Readonly<Record<keyof typeof SINK_CODES, ErrorCode>>;

export interface StatusMeaning extends Pick<BridgeErrorDetails, 'disposition' | 'scope'> {
  readonly failure: 'gone' | 'misconfigured' | 'refused' | 'unavailable';
  /** The remedy, for people. */
  readonly advice: string;
}

/** The sink and target of a failure. */
export interface HttpPlace {
  /** `SINK_CODES`, or those of a kind with its own. */
  readonly codes: HttpCodes;
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
