// What the configuration says of a receiver's consent → its keys: the handshake, who asks, and how often may be sent.
import * as v from 'valibot';

/** A domain name (RFC 1123, section 2.1), without a dot at its end. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const NAME_FAULT = 'must be a DNS name such as bridge.example.com, without scheme, port or path';
const RATE_FAULT = 'must be a whole number of requests a minute, 1 or more';

export const consentEntries = {
  handshake: v.pipe(
    v.optional(v.boolean(), false),
    v.description('Ask the receiver for its consent (an OPTIONS request) before the first delivery; needs origin. Default false.'),
  ),
  origin: v.exactOptional(
    v.pipe(
      v.string(NAME_FAULT),
      v.regex(DNS_NAME, NAME_FAULT),
      v.description(
        'The DNS name of the system that sends, not of this machine; every request carries it as WebHook-Request-Origin. Default none.',
      ),
    ),
  ),
  ratePerMinute: v.exactOptional(
    v.pipe(
      v.number(RATE_FAULT),
      v.safeInteger(RATE_FAULT),
      v.minValue(1, RATE_FAULT),
      v.description(
        'At most so many requests in any 60 s. With a handshake it is what the receiver is asked for, and its answer decides. Default no limit.',
      ),
    ),
  ),
};

export interface ConsentOptions {
  readonly handshake: boolean;
  readonly origin?: string;
  readonly ratePerMinute?: number;
}

export const ORIGIN_FAULT =
  'is missing: a handshake names who asks. Give the DNS name of the system that sends, such as bridge.example.com, the same on all its machines';

/** Whether the handshake knows in whose name it asks. */
export function namesOrigin({ handshake, origin }: ConsentOptions): boolean {
  return !handshake || origin !== undefined;
}
