// `body` of the configuration → faults of its template, by rendering one event of each type.
import type { OptionFault } from '../../../src/schema/faults.ts';
import { loadTemplate, renderBody, templateScope } from './template-body.ts';
import type { Template, Variable } from './template-engine.ts';
import { openValues, type TemplateBody } from './template-options.ts';
import { type Sample, sampleEvents } from './template-samples.ts';

const KEY = 'body.template';

/** Returns the faults of the template. The secrets must be open. */
export async function templateFaults({ body }: { readonly body?: TemplateBody }): Promise<readonly OptionFault[]> {
  if (body === undefined) return [];
  const template = await loadTemplate(body);
  if ('fault' in template) return [{ key: KEY, message: template.fault }];
  const samples = sampleEvents();
  const values = openValues(body);
  const unknown = variableFaults(template, samples, values);
  return unknown.length > 0 ? unknown : trialFaults(template, body.contentType, samples, values);
}

/** Returns each variable that no event has, once. A misspelled variable would silently render as nothing. */
function variableFaults(
  template: Template,
  samples: readonly Sample[],
  values: Readonly<Record<string, string>>,
): OptionFault[] {
  const known = samples.map(({ event, change }) => templateScope(event, change, {}));
  const unknown = new Map<string, OptionFault>();
  for (const variable of template.variables) {
    const fault = variable.path[0] === 'values' ? valueFault(variable, values) : eventFault(variable, known);
    if (fault) unknown.set(`${fault.key} ${variable.path.join('.')}`, fault);
  }
  return [...unknown.values()];
}

function valueFault({ path: [, name] }: Variable, values: Readonly<Record<string, string>>): OptionFault | null {
  if (name === undefined || Object.hasOwn(values, name)) return null;
  return { key: `body.values.${name}`, message: 'is missing: the template uses it' };
}

function eventFault({ path, line }: Variable, known: readonly object[]): OptionFault | null {
  if (known.some((scope) => hasPath(scope, path))) return null;
  return { key: KEY, message: `uses ${path.join('.')} in line ${line}, which no event has` };
}

/**
 * Returns whether the path exists. Every path into texts and lists counts, because they have members such as `size` and
 * `first`.
 */
function hasPath(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || typeof value !== 'object' || value === null || Array.isArray(value))
    return value !== null || name === undefined;
  return Object.hasOwn(value, name) && hasPath((value as Readonly<Record<string, unknown>>)[name], rest);
}

/** Returns the fault of the first event that the template fails for. */
function trialFaults(
  template: Template,
  contentType: string,
  samples: readonly Sample[],
  values: Readonly<Record<string, string>>,
): OptionFault[] {
  for (const { event, change } of samples) {
    const rendered = renderBody(template, contentType, templateScope(event, change, values));
    if ('fault' in rendered) return [{ key: KEY, message: `fails for an event of type ${change}: ${rendered.fault}` }];
  }
  return [];
}
