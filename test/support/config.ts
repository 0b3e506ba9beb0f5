// YAML text → what readConfig makes of it, with a test's own adapters, environment and files.
import assert from 'node:assert/strict';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import type { ConfigSurroundings } from '../../src/config/check-config.ts';
import type { Config } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { formatFault } from '../../src/schema/faults.ts';
import { duration, secret } from '../../src/schema/pieces.ts';

function definition<Options>(type: string, options: v.GenericSchema<unknown, Options>): AdapterDefinition<unknown> {
  return {
    type,
    options,
    create: () => {
      throw new Error('reading a configuration creates no adapter');
    },
  };
}

/** A sink without keys of its own, and one with some of every sort. */
export const ADAPTERS: readonly AdapterDefinition<unknown>[] = [
  definition('stdout', v.strictObject({})),
  definition(
    'webhook',
    v.pipe(
      v.strictObject({
        url: v.pipe(
          v.union([v.string(), secret()], 'must be a URL, { env: NAME } or { file: PATH }'),
          v.description('Where to.'),
        ),
        mode: v.optional(v.picklist(['structured', 'binary']), 'structured'),
        timeout: v.optional(v.pipe(duration(), v.description('How long.')), '10s'),
        headers: v.optional(v.record(v.string(), v.string()), {}),
        secrets: v.optional(v.array(secret()), []),
        maxBatch: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 100),
      }),
      v.transform(({ timeout, ...rest }) => ({ ...rest, timeoutMs: timeout })),
    ),
  ),
];

export const TOKEN = 'correct-horse-battery-staple';
export const OTHER_TOKEN = 'another-horse-another-staple';

/** Files by absolute path; the configuration lies in /etc/bridge. */
export function surroundings(env: Record<string, string> = {}, files: Record<string, string> = {}): ConfigSurroundings {
  const readFile = (path: string) => {
    const text = files[path];
    if (text === undefined)
      throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' });
    return text;
  };
  return { adapters: ADAPTERS, env, readFile, directory: '/etc/bridge' };
}

/** @throws where the configuration has a fault. */
export function configOf(text: string, around = surroundings()): Config {
  const result = readConfig(text, around);
  if ('faults' in result) assert.fail(`unexpected faults: ${result.faults.map(formatFault).join('\n')}`);
  return result.options;
}

/** Each fault as its line for people; empty where there is none. */
export function faultsOf(text: string, around = surroundings()): string[] {
  const result = readConfig(text, around);
  return 'faults' in result ? result.faults.map(formatFault) : [];
}
