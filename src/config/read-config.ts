// A configuration file's text → Config, or every fault in it. Heavy (YAML): import it lazily.
import type { Fault } from '../schema/faults.ts';
import { parseYaml } from '../schema/yaml.ts';
import { type CheckedConfig, type ConfigSurroundings, checkConfig, checkConfigFully } from './check-config.ts';

/** Reads, checks and opens it, as far as that goes without loading what a sink may need; reports every fault of a file in one run. */
export function readConfig(text: string, around: ConfigSurroundings): CheckedConfig {
  const { value, faults } = parseYaml(text, 'configuration');
  return value === undefined ? { faults } : together(faults, checkConfig(value, around));
}

/** `readConfig`, and besides all that takes loading to judge, such as templates. */
export async function readConfigFully(text: string, around: ConfigSurroundings): Promise<CheckedConfig> {
  const { value, faults } = parseYaml(text, 'configuration');
  return value === undefined ? { faults } : together(faults, await checkConfigFully(value, around));
}

function together(faults: readonly Fault[], checked: CheckedConfig): CheckedConfig {
  if (faults.length === 0) return checked;
  return { faults: [...faults, ...('faults' in checked ? checked.faults : [])] };
}
