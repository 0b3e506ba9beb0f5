// The configuration file's text → Config, or every fault in it. Reads YAML, which is heavy: import it lazily.
import { type CheckedConfig, type ConfigSurroundings, checkConfig } from './check-config.ts';
import { parseYaml } from './yaml-text.ts';

/** Reads, checks and opens it all; reports every fault of a file in one run. */
export function readConfig(text: string, around: ConfigSurroundings): CheckedConfig {
  const parsed = parseYaml(text);
  return 'faults' in parsed ? parsed : checkConfig(parsed.value, around);
}
