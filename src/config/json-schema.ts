// The schemas of all sections and adapters → one JSON Schema (draft-07) of the file, for editors and `check --schema`. Heavy: import it lazily.
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { entriesOf } from '../validation/validate.ts';
import { SECTIONS } from './check-config.ts';
import { name } from './fields.ts';
import { sinkCommon } from './sink-section.ts';

/** As far as we look into one. */
interface JsonSchema {
  description?: string;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  [keyword: string]: unknown;
}

/** What the configuration may hold, with descriptions and defaults. What takes more than one key to judge is left to `check`. */
export function jsonSchema(adapters: readonly AdapterDefinition<unknown>[]): JsonSchema {
  const sections = Object.fromEntries(
    Object.entries<v.GenericSchema>(SECTIONS).map(([key, schema]) => [key, { ...convert(schema), default: {} }]),
  );
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of scheduled-events-bridge',
    type: 'object',
    properties: { version: { description: 'The version of this format: 1.', const: 1 }, ...sections, sinks: sinksSchema(adapters) },
    required: ['version'],
    additionalProperties: false,
  };
}

function sinksSchema(adapters: readonly AdapterDefinition<unknown>[]): JsonSchema {
  return {
    description: 'By name: where CloudEvents go. Default: standard output.',
    type: 'object',
    minProperties: 1,
    propertyNames: convert(name()),
    additionalProperties: adapters.length === 0 ? sinkSchema(undefined) : { oneOf: adapters.map(sinkSchema) },
    default: { stdout: { type: 'stdout' } },
  };
}

/** A sink's keys are those that all sinks have and its adapter's. */
function sinkSchema(adapter: AdapterDefinition<unknown> | undefined): JsonSchema {
  const own = adapter ? convert(adapter.options) : {};
  const type = { description: 'The kind of sink.', ...(adapter ? { const: adapter.type } : { type: 'string' }) };
  const required = Array.isArray(own['required']) ? own['required'] : [];
  return {
    type: 'object',
    properties: Object.assign({ type }, own.properties, convert(sinkCommon).properties, { type }),
    required: ['type', ...required],
    additionalProperties: false,
  };
}

function convert(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, ...converted } = toJsonSchema(schema, { typeMode: 'input', target: 'draft-07', errorMode: 'ignore' }) as JsonSchema;
  describe(converted, schema);
  return converted;
}

/** The conversion of what is written ends where a schema transforms it, and with it goes a description that stands behind. */
function describe(converted: JsonSchema, schema: v.GenericSchema): void {
  const inner = 'wrapped' in schema ? (schema.wrapped as v.GenericSchema) : schema;
  const description = v.getDescription(inner as v.GenericSchema & { pipe?: never });
  if (converted.description === undefined && description !== undefined) converted.description = description;
  if (inner !== schema) describe(converted, inner);
  for (const [key, entry] of Object.entries(entriesOf(inner))) {
    const member = converted.properties?.[key];
    if (member) describe(member, entry as v.GenericSchema);
  }
  if ('value' in inner && typeof converted.additionalProperties === 'object')
    describe(converted.additionalProperties, inner.value as v.GenericSchema);
}
