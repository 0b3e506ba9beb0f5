// --config FILE → the configuration, checked and opened; without a file the defaults.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ADAPTERS } from '../../adapters/index.ts';
import type { Config } from '../config/config.ts';
import { configError } from '../config/config-error.ts';
import { defaultConfig } from '../config/default-config.ts';
import { BridgeError, messageOf } from '../errors.ts';
import type { VerbContext } from './verb.ts';

/** @throws BridgeError BRIDGE_CONFIG_UNREADABLE, or BRIDGE_CONFIG_INVALID with every fault of the file. */
export async function loadConfig(context: VerbContext, file: string | undefined): Promise<Config> {
  const around = { adapters: ADAPTERS, env: context.env, readFile: (path: string) => readFileSync(path, 'utf8') };
  const checked =
    file === undefined
      ? defaultConfig({ ...around, directory: '.' })
      : await (await import('../config/read-config.ts')).readConfigFully(read(file), { ...around, directory: dirname(resolve(file)) });
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new BridgeError('BRIDGE_CONFIG_UNREADABLE', `the configuration ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
