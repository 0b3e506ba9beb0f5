// A webhook's options, each with a fault → a test each: it is found at its path, without its value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { webhookOptions } from '../../../adapters/webhook/webhook-options.ts';

export type OptionFaults = readonly (readonly [
  options: Readonly<Record<string, unknown>>,
  path: string,
  says: RegExp,
])[];

/** Values that must not be repeated hold the word "hidden". */
export function testOptionFaults(url: string, faults: OptionFaults): void {
  for (const [options, path, says] of faults) {
    test(`${JSON.stringify(options)} is a fault of ${JSON.stringify(path)}`, () => {
      const { issues } = v.safeParse(webhookOptions, { url, ...options });
      assert.equal(issues?.length, 1);
      assert.equal(v.getDotPath(issues[0]), path);
      assert.match(issues[0].message, says);
      assert.doesNotMatch(issues[0].message, /hidden/);
    });
  }
}
