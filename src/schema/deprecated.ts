// A schema with marks and a value as written → the deprecated settings that the value uses.
import * as v from 'valibot';
import { type Fault, formatPath, type Path } from './faults.ts';
import { isMapping, membersOf, optionFor } from './validate.ts';

/** What a user of a deprecated setting must know. */
interface Deprecation {
  /** The version that deprecated it. */
  readonly since: string;
  /** The first version that may remove it. */
  readonly until: string;
  /** What replaces it, such as `sinks.NAME.url`. */
  readonly use: string;
  /** Only this value is deprecated, not the whole key. */
  readonly value?: string | number | boolean;
}

/** A symbol, because the conversion to JSON Schema copies each text key of a schema's metadata. */
const MARK = Symbol('deprecation');

/** Returns the mark of a deprecated key, value or form, for the pipe of its schema. */
export function deprecated<Input>(deprecation: Deprecation) {
  const isWhole = deprecation.value === undefined;
  return v.metadata<Input, Record<string, unknown>>({ ...(isWhole && { deprecated: true }), [MARK]: deprecation });
}

/** Returns the mark of a schema itself; null without one. */
export function deprecationOf(schema: v.GenericSchema): Deprecation | null {
  const metadata: Readonly<Record<symbol, unknown>> = v.getMetadata(schema as Parameters<typeof v.getMetadata>[0]);
  return (metadata[MARK] as Deprecation | undefined) ?? null;
}

/** `use sinks.NAME.url (deprecated since 0.3.0, goes no earlier than 0.5.0)` */
export function deprecationText({ use, since, until }: Deprecation): string {
  return `use ${use} (deprecated since ${since}, goes no earlier than ${until})`;
}

/**
 * Returns the deprecated settings that `value` uses. Defaults do not count, because they are not in it.
 * @param value valid, and in the form of the file
 */
export function usedDeprecations(schema: v.GenericSchema, value: unknown, at: Path): Fault[] {
  if (value === undefined) return [];
  const mark = deprecationOf(schema);
  const isUsed = mark !== null && (mark.value === undefined || mark.value === value);
  const own = isUsed ? [{ path: formatPath(at), message: deprecationText(mark) }] : [];
  return [...own, ...within(schema, value, at)];
}

function within(schema: v.GenericSchema, value: unknown, at: Path): Fault[] {
  if ('wrapped' in schema) return usedDeprecations(schema.wrapped as v.GenericSchema, value, at);
  if ('options' in schema) {
    const chosen = isMapping(value) ? optionFor(schema, value) : plainOption(schema.options, value);
    return chosen === undefined ? [] : usedDeprecations(chosen, value, at);
  }
  if (Array.isArray(value) && 'item' in schema)
    return value.flatMap((member, index) => usedDeprecations(schema.item as v.GenericSchema, member, [...at, index]));
  const schemaOf = membersOf(schema);
  if (schemaOf === null || !isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const own = schemaOf(key);
    return own === undefined ? [] : usedDeprecations(own, member, [...at, key]);
  });
}

/** Returns the form of a union that accepts a value. The options of a picklist are texts, not schemas. */
function plainOption(options: unknown, value: unknown): v.GenericSchema | undefined {
  const schemas = (Array.isArray(options) ? options : []).filter(isMapping) as unknown as v.GenericSchema[];
  return schemas.find((option) => v.is(option, value));
}
