// The configuration file's text → Config, or every fault in it. Reads YAML, which is heavy: import it lazily.

import { parseYaml } from '../validation/yaml-text.ts';
import { type CheckedConfig, type ConfigSurroundings, checkConfig } from './check-config.ts';

/** Reads, checks and opens it all; reports every fault of a file in one run. */
export function readConfig(text: string, around: ConfigSurroundings): CheckedConfig {
  const { value, faults } = parseYaml(text, 'configuration');
  if (value === undefined) return { faults };
  const checked = checkConfig(value, around);
  if (faults.length === 0) return checked;
  return { faults: [...faults, ...('faults' in checked ? checked.faults : [])] };
}
