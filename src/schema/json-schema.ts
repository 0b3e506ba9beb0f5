// A schema of valibot → the JSON Schema of what may be written. Heavy: import it lazily.
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { entriesOf } from './validate.ts';

/** As far as we look into one. */
export interface JsonSchema {
  description?: string;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  [keyword: string]: unknown;
}

/** Checks that JSON Schema cannot express are left out. */
export function convertSchema(schema: v.GenericSchema, target: 'draft-07' | 'draft-2020-12'): JsonSchema {
  const { $schema: _, ...converted } = toJsonSchema(schema, { typeMode: 'input', target, errorMode: 'ignore' }) as JsonSchema;
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
  if ('item' in inner && converted.items) describe(converted.items, inner.item as v.GenericSchema);
  const options = inner.type === 'union' && 'options' in inner ? (inner.options as v.GenericSchema[]) : [];
  for (const [index, option] of options.entries()) describe(converted.anyOf?.[index] ?? {}, option);
}
