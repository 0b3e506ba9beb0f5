// A target and a check of addresses → the guard of its connections.
import { isIP } from 'node:net';
import { BridgeError } from '../../src/errors.ts';
import type { AddressGuard } from '../../src/net/checked-lookup.ts';
import type { AddressVerdict } from '../../src/net/private-addresses.ts';
import type { HttpPlace } from './failures.ts';

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
