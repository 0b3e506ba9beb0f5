// A kind of sink on this kit and what failed → the code of its error.
import type { ErrorCode } from '../../src/errors.ts';

/** As its codes spell it; src/errors.ts has one for each failure below, which the compiler checks. */
export type HttpKind = 'WEBHOOK';

type HttpFailure =
  | 'BROKEN'
  | 'FORBIDDEN_ADDRESS'
  | 'GONE'
  | 'MISCONFIGURED'
  | 'PROXY'
  | 'REFUSED'
  | 'TIMEOUT'
  | 'TLS'
  | 'TLS_FILES'
  | 'TOKEN_REFUSED'
  | 'TOKEN_UNAVAILABLE'
  | 'UNAVAILABLE'
  | 'UNREACHABLE';

/** Who it happened to, for codes and messages. */
export interface HttpPlace {
  readonly kind: HttpKind;
  /** The sink's name. */
  readonly sink: string;
  /** What is asked, such as `https://example.com`; never more of a URL than scheme and host. */
  readonly target: string;
  /** The key that holds its URL. */
  readonly key: string;
  /** The keys that hold its credentials. */
  readonly credentials: string;
}

export function codeOfFailure(kind: HttpKind, failure: HttpFailure): ErrorCode {
  return `BRIDGE_${kind}_${failure}`;
}

/** How messages name the place. */
export function whoOf({ sink, target }: Pick<HttpPlace, 'sink' | 'target'>): string {
  return `sink ${sink}: ${target}`;
}
