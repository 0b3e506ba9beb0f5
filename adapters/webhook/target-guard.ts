// A target of a sink and the addresses that it may have → the guard of its connections, whose refusal says what to correct.
import { isIP } from 'node:net';
import { BridgeError } from '../../src/errors.ts';
import type { AddressGuard } from '../../src/net/checked-lookup.ts';
import type { Verdict } from '../../src/net/private-addresses.ts';

interface Target {
  readonly sink: string;
  /** Scheme and host, to show. */
  readonly origin: string;
  readonly judge: (address: string) => Verdict;
  /** The key to correct: `url` by default. */
  readonly key?: string;
}

export type TargetGuard = AddressGuard & Target;

/** Its errors are BRIDGE_WEBHOOK_FORBIDDEN_ADDRESS. */
export function targetGuard(target: Target): TargetGuard {
  return {
    ...target,
    isAllowed: (address) => target.judge(address) === 'allowed',
    forbidden: (address) => forbidden(target, address),
  };
}

function forbidden({ sink, origin, judge, key = 'url' }: Target, address: string): BridgeError {
  const isNever = isIP(address) !== 0 && judge(address) === 'metadata';
  const advice = isNever
    ? `an address of the metadata service, where no event ever goes: correct ${key}`
    : `not a public address: correct ${key}, or list the range in sinks.${sink}.allowPrivate if you trust it`;
  const message = `sink ${sink} does not connect to ${origin}: it is ${address}, ${advice}`;
  return new BridgeError('BRIDGE_WEBHOOK_FORBIDDEN_ADDRESS', message, { disposition: 'misconfigured', scope: 'sink' });
}
