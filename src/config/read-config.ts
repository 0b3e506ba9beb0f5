// A configuration file's text → Config, or every fault in it. Heavy (YAML): import it lazily.
import type * as v from 'valibot';
import type { Fault } from '../schema/faults.ts';
import { isMapping, validate } from '../schema/validate.ts';
import { parseYaml } from '../schema/yaml.ts';
import { type CheckedConfig, type ConfigSurroundings, checkConfig, checkConfigFully } from './check-config.ts';
import { SECTIONS, type Sections } from './sections.ts';

/**
 * Reads and checks a file and resolves its secrets, without checks that need to load something. Reports all faults in
 * one run.
 */
export function readConfig(text: string, around: ConfigSurroundings): CheckedConfig {
  const { value, faults } = parseYaml(text, 'configuration');
  return value === undefined ? { faults } : together(faults, checkConfig(value, around));
}

/** Like `readConfig`, with the checks that need to load something, such as templates. */
export async function readConfigFully(text: string, around: ConfigSurroundings): Promise<CheckedConfig> {
  const { value, faults } = parseYaml(text, 'configuration');
  return value === undefined ? { faults } : together(faults, await checkConfigFully(value, around));
}

/** Sections that can be read alone. */
export type SingleSection = 'http' | 'store' | 'approvals';

const SINGLE_SECTIONS: { readonly [Name in SingleSection]: v.GenericSchema<unknown, Sections[Name]> } = SECTIONS;

/** Reads one section without its secrets, for verbs of users who may not read those of the configuration. */
export function readSection<Name extends SingleSection>(
  text: string,
  name: Name,
): { readonly options: Sections[Name] } | { readonly faults: readonly Fault[] } {
  const { value, faults } = parseYaml(text, 'configuration');
  if (faults.length > 0) return { faults };
  const section = isMapping(value) ? (value[name] ?? {}) : value;
  const { output, faults: found } = validate(SINGLE_SECTIONS[name], section, [name], 'configuration');
  return output === undefined || found.length > 0 ? { faults: found } : { options: output };
}

function together(faults: readonly Fault[], checked: CheckedConfig): CheckedConfig {
  if (faults.length === 0) return checked;
  return { faults: [...faults, ...('faults' in checked ? checked.faults : [])] };
}
