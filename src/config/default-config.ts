// No configuration file → the configuration of `run` alone: the metadata service to standard output.
import { type CheckedConfig, type ConfigSurroundings, checkConfig } from './check-config.ts';

/** Every default, one sink: stdout. */
export function defaultConfig(around: Pick<ConfigSurroundings, 'adapters' | 'env' | 'directory'>): CheckedConfig {
  const readFile = () => {
    throw new Error('a configuration of defaults names no file');
  };
  return checkConfig({ version: 1 }, { ...around, readFile });
}
