// All schemas → one JSON Schema (draft-07) of the file. Heavy: import it lazily.
import type * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { sinkCommon } from '../delivery/options.ts';
import { convertSchema, type JsonSchema } from '../schema/json-schema.ts';
import { name } from '../schema/pieces.ts';
import type { EntryType } from './entries.ts';
import { SECTIONS } from './sections.ts';
import { sourceCommon, sourceTypes } from './sources.ts';

/**
 * Returns the schema of the file, with descriptions and defaults. Faults that involve more than one key are left to
 * `check`.
 */
export function jsonSchema(adapters: readonly AdapterDefinition<unknown>[]): JsonSchema {
  const sections = Object.fromEntries(
    Object.entries<v.GenericSchema>(SECTIONS).map(([key, schema]) => [key, { ...convert(schema), default: {} }]),
  );
  const approvals: JsonSchema = sections['approvals'] ?? {};
  approvals.properties = { ...approvals.properties, sources: sourcesSchema(adapters) };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of scheduled-events-bridge',
    type: 'object',
    properties: {
      version: { description: 'The version of this format: 1.', const: 1 },
      ...sections,
      sinks: sinksSchema(adapters),
    },
    required: ['version'],
    additionalProperties: false,
  };
}

function sinksSchema(adapters: readonly AdapterDefinition<unknown>[]): JsonSchema {
  const description = 'By name: the destinations of CloudEvents. Default: standard output.';
  const entries = entriesSchema('sink', adapters, sinkCommon);
  return { description, ...entries, minProperties: 1, default: { stdout: { type: 'stdout' } } };
}

function sourcesSchema(adapters: readonly AdapterDefinition<unknown>[]): JsonSchema {
  const description = 'By name: queues and topics that the bridge reads approvals from. Default: none.';
  return { description, ...entriesSchema('source', sourceTypes(adapters), sourceCommon), default: {} };
}

type Kind = Pick<EntryType<unknown>, 'type' | 'options'>;

/** Entries by name, each of one of these types. */
function entriesSchema(noun: string, types: readonly Kind[], common: v.GenericSchema): JsonSchema {
  const entry = (kind: Kind | undefined) => entrySchema(noun, kind, common);
  const additionalProperties = types.length === 0 ? entry(undefined) : { oneOf: types.map(entry) };
  return { type: 'object', propertyNames: convert(name()), additionalProperties };
}

/** The entry has the common keys and the keys of its type. */
function entrySchema(noun: string, kind: Kind | undefined, commonSchema: v.GenericSchema): JsonSchema {
  const [own, common] = [kind ? convert(kind.options) : {}, convert(commonSchema)];
  const type = { description: `The type of ${noun}.`, ...(kind ? { const: kind.type } : { type: 'string' }) };
  return {
    type: 'object',
    properties: Object.assign({ type }, own.properties, common.properties, { type }),
    required: ['type', ...requiredOf(own), ...requiredOf(common)],
    additionalProperties: false,
  };
}

function requiredOf({ required }: JsonSchema): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}

function convert(schema: v.GenericSchema): JsonSchema {
  return convertSchema(schema, 'draft-07');
}
