// A scenario's text → Script, or every fault in it. Heavy (YAML): import it lazily.
import type { Fault } from '../../schema/faults.ts';
import { isMapping, validate } from '../../schema/validate.ts';
import { parseYaml } from '../../schema/yaml.ts';
import { orderFaults } from './scenario-order.ts';
import { scenarioSchema } from './scenario-schema.ts';
import type { Script } from './script.ts';

export type ReadScenario = { readonly script: Script } | { readonly faults: readonly Fault[] };

const KIND = 'scenario';

/** Reports every fault of a file in one run. docs/simulate/scenarios.md tells the keys. */
export function readScenario(text: string, name: string): ReadScenario {
  const { value, faults: unreadable } = parseYaml(text, KIND);
  if (value === undefined) return { faults: unreadable };
  if (!isMapping(value)) return { faults: [...unreadable, { path: '', message: 'a scenario must be a mapping with purpose and steps' }] };
  const { output, faults: misfits } = validate(scenarioSchema, value, [], KIND);
  const faults = [...unreadable, ...misfits, ...orderFaults(value)];
  return faults.length > 0 || output === undefined ? { faults } : { script: { name, ...output } };
}
