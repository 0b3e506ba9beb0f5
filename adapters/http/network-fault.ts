// What node:http, TLS and DNS throw → BridgeErrors that say whom it hit and what to do.
import { BridgeError, codeOf, type ErrorCode, messageOf } from '../../src/errors.ts';
import { isUnreachableFault } from '../../src/net/network-codes.ts';
import { type TlsWords, tlsAdvice } from '../../src/net/tls-advice.ts';
import { type HttpPlace, whoOf } from './failures.ts';

/** A BridgeError passes unchanged. */
export function networkFault(error: unknown, place: HttpPlace): BridgeError {
  if (error instanceof BridgeError) return error;
  const { codes } = place;
  const who = whoOf(place);
  // Several addresses that fail come as one AggregateError, with the code of the first.
  const code = codeOf(error);
  const said = code ?? messageOf(error);
  const advice = code && tlsAdvice(code, wordsOf(place));
  if (advice) return fault(codes.tls, `${who} ${advice} (${said})`, 'sink', error);
  if (code && isUnreachableFault(code)) {
    return fault(
      codes.unreachable,
      `${who} cannot be reached (${said}): check that it is running, its name and the firewall`,
      'sink',
      error,
    );
  }
  return fault(
    codes.broken,
    `${who} closed the connection without an answer (${said}): the bridge retries; if this lasts, check the receiver`,
    'delivery',
    error,
  );
}

function wordsOf({ key }: HttpPlace): TlsWords {
  return { target: `the ${key}`, section: 'tls', plain: `the ${key} is http://` };
}

/** The time limit ran out; `limit` as the configuration writes it. */
export function timeoutFault(place: HttpPlace, limit: string): BridgeError {
  return new BridgeError(place.codes.timeout, `${whoOf(place)} did not answer within ${limit}: check the receiver, or raise timeout`, {
    disposition: 'retry',
    status: 'timeout',
  });
}

function fault(code: ErrorCode, message: string, scope: 'delivery' | 'sink', error: unknown): BridgeError {
  const status = codeOf(error);
  return new BridgeError(code, message, { disposition: 'retry', scope, cause: bare(error), ...(status === undefined ? {} : { status }) });
}

/** Without what a logger must not see: node hangs raw answer bytes and whole certificates on its errors. */
function bare(error: unknown): Error {
  return new Error(messageOf(error) || (codeOf(error) ?? 'unknown'));
}
