// A valibot schema → the JSON Schema of its input. Heavy: import it lazily.
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { deprecationOf, deprecationText } from './deprecated.ts';
import { entriesOf } from './validate.ts';

/** The keywords that this file and its callers use. */
export interface JsonSchema {
  description?: string;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  [keyword: string]: unknown;
}

/** Returns the JSON Schema, without the checks that JSON Schema cannot express. */
export function convertSchema(schema: v.GenericSchema, target: 'draft-07' | 'draft-2020-12'): JsonSchema {
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    typeMode: 'input',
    target,
    errorMode: 'ignore',
  }) as JsonSchema;
  describe(converted, schema);
  return converted;
}

/**
 * Adds descriptions that the conversion loses: it stops at the first transformation of a schema, and a description may
 * follow later.
 */
function describe(converted: JsonSchema, schema: v.GenericSchema): void {
  const inner = 'wrapped' in schema ? (schema.wrapped as v.GenericSchema) : schema;
  const description = v.getDescription(inner as v.GenericSchema & { pipe?: never });
  if (converted.description === undefined && description !== undefined) converted.description = description;
  addDeprecation(converted, schema);
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

/** Says once what replaces a deprecated key or value. Only a whole key gets the keyword. */
function addDeprecation(converted: JsonSchema, schema: v.GenericSchema): void {
  const mark = deprecationOf(schema);
  if (mark === null) return;
  if (mark.value === undefined) converted['deprecated'] = true;
  const subject = mark.value === undefined ? 'Deprecated' : `${mark.value} is deprecated`;
  const text = `${subject}: ${deprecationText(mark)}.`;
  // A member of an optional mapping is visited more than once.
  if (converted.description?.endsWith(text)) return;
  converted.description = converted.description === undefined ? text : `${converted.description} ${text}`;
}
