// --config FILE → the configuration, checked and opened; without a file the defaults.
import { dirname, resolve } from 'node:path';
import { ADAPTERS } from '../../adapters/index.ts';
import type { Config } from '../config/config.ts';
import { configError } from '../config/config-error.ts';
import { defaultConfig } from '../config/default-config.ts';
import { BridgeError } from '../errors.ts';
import { fileFault, readRegularFile } from '../regular-file.ts';
import type { VerbContext } from './verb.ts';

/** @throws BridgeError BRIDGE_CONFIG_UNREADABLE, or BRIDGE_CONFIG_INVALID with every fault of the file. */
export async function loadConfig(context: VerbContext, file: string | undefined): Promise<Config> {
  const around = { adapters: ADAPTERS, env: context.env, readFile: readRegularFile };
  const checked =
    file === undefined
      ? defaultConfig({ ...around, directory: '.' })
      : await (await import('../config/read-config.ts')).readConfigFully(read(file), { ...around, directory: dirname(resolve(file)) });
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}

function read(file: string): string {
  try {
    return readRegularFile(file);
  } catch (error) {
    const fault = fileFault(error);
    const advice = fault.includes('a pipe') ? ': write it into a file first, as a pipe may never end' : '';
    throw new BridgeError('BRIDGE_CONFIG_UNREADABLE', `the configuration ${file} ${fault}${advice}`, { cause: error });
  }
}
