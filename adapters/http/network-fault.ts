// Errors of connections, and forbidden addresses → BridgeErrors with sink, target and remedy.
import { isIP } from 'node:net';
import { BridgeError, codeOf, type ErrorCode, messageOf, withoutDetails } from '../../src/errors.ts';
import type { AddressGuard } from '../../src/net/checked-lookup.ts';
import { isUnreachableFault, unreachableWords } from '../../src/net/network-codes.ts';
import type { AddressVerdict } from '../../src/net/private-addresses.ts';
import { tlsAdvice } from '../../src/net/tls-advice.ts';
import { type HttpPlace, whoOf } from './failures.ts';

/** Returns the BridgeError for any error; a BridgeError unchanged. */
export function networkFault(error: unknown, place: HttpPlace): BridgeError {
  if (error instanceof BridgeError) return error;
  const { codes, key } = place;
  // If several addresses fail, Node throws one AggregateError with the code of the first.
  const code = codeOf(error);
  const reason = code ?? messageOf(error);
  const fault = (is: ErrorCode, scope: 'delivery' | 'sink', said: string) =>
    new BridgeError(is, `${whoOf(place)} ${said}`, {
      disposition: 'retry',
      scope,
      cause: withoutDetails(error),
      status: code,
    });
  const advice = code && tlsAdvice(code, { target: `the ${key}`, section: 'tls', plain: `the ${key} is http://` });
  if (advice) return fault(codes.tls, 'sink', `${advice} (${reason})`);
  if (code && isUnreachableFault(code))
    return fault(
      codes.unreachable,
      'sink',
      unreachableWords(code, error, 'check that it is running, its name and the firewall'),
    );
  const said = `closed the connection without an answer (${reason}): the bridge retries; if this lasts, check the receiver`;
  return fault(codes.broken, 'delivery', said);
}

/** Returns the fault of a passed time limit. @param limit as written in the configuration */
export function timeoutFault(place: HttpPlace, limit: string): BridgeError {
  const message = `${whoOf(place)} did not answer within ${limit}: check the receiver, or raise timeout`;
  return new BridgeError(place.codes.timeout, message, { disposition: 'retry', status: 'timeout' });
}

/** Returns whether a sink may send to an address. */
export type AddressJudge = (address: string) => AddressVerdict;

/** Returns a guard with errors of the place's code `forbiddenAddress`. */
export function targetGuard(place: HttpPlace, judge: AddressJudge): AddressGuard {
  return {
    isAllowed: (address) => judge(address) === 'allowed',
    forbidden: (address) => forbidden(place, judge, address),
  };
}

function forbidden({ codes, sink, target, key }: HttpPlace, judge: AddressJudge, address: string): BridgeError {
  const isNever = isIP(address) !== 0 && judge(address) === 'metadata';
  const advice = isNever
    ? `an address of the metadata service, which the bridge never sends events to: correct ${key}`
    : `not a public address: correct ${key}, or list the range in sinks.${sink}.allowPrivate if you trust it`;
  const message = `sink ${sink} does not connect to ${target}: it is ${address}, ${advice}`;
  return new BridgeError(codes.forbiddenAddress, message, { disposition: 'misconfigured', scope: 'sink' });
}
