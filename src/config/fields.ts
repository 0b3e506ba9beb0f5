// The pieces of schema that several sections share: durations within a range, names, lists, addresses.
import * as v from 'valibot';
import { parseDuration } from '../formats/durations.ts';
import { duration } from '../schema/pieces.ts';

/** A duration from `least` to `most`, both included, in milliseconds. */
export function durationBetween(least: string, most: string, description: string) {
  const [leastMs, mostMs] = [parseDuration(least), parseDuration(most)] as [number, number];
  return v.pipe(
    duration(),
    v.check((ms) => ms >= leastMs && ms <= mostMs, `must be between ${least} and ${most}`),
    v.description(`${description} From ${least} to ${most}.`),
  );
}

/** What a sink, an approver or a reader may be called: it becomes part of paths, labels and log lines. */
export function name() {
  return v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'is no name: 1 to 64 letters, digits, _ or -'));
}

/** A list with at least one text in it, none of them empty. */
export function texts(description: string) {
  const text = v.pipe(v.string(), v.minLength(1));
  return v.pipe(v.array(text), v.minLength(1, 'must not be empty: leave the key out to set no condition'), v.description(description));
}

/** Where a server listens. */
export interface ListenAddress {
  /** Without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

const ADDRESS = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/;

/** `127.0.0.1:8700`, `[::1]:8700`, `localhost:8700`. */
export function address(description: string) {
  return v.pipe(
    v.string(),
    v.regex(ADDRESS, 'must be an address and a port, such as 127.0.0.1:8700 or [::1]:8700'),
    v.description(description),
    v.transform((text): ListenAddress => {
      const [, bracketed, plain, port] = ADDRESS.exec(text) ?? [];
      return { host: bracketed ?? plain ?? '', port: Number(port) };
    }),
    v.check(({ port }) => port <= 65_535, 'has a port above 65535'),
  );
}
