// A schema and a value → its valid parts, and all faults in one run.
import * as v from 'valibot';
import { type Fault, type FileKind, faultOf, formatPath, type Path, unknownKey } from './faults.ts';

interface Validated<T> {
  /** Without the invalid parts; undefined if nothing is left. If there are faults, use it only for further checks. */
  readonly output: T | undefined;
  readonly faults: readonly Fault[];
}

/**
 * Finds all faults. A schema stops at an unknown key and skips checks if a part has the wrong type, so this removes
 * unknown keys first, and then removes invalid parts until the rest is valid.
 */
export function validate<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  at: Path,
  kind: FileKind,
): Validated<T> {
  const faults: Fault[] = [];
  const removed: Path[] = [];
  let rest = knownPart(schema, value, at, kind, faults);
  while (true) {
    const result = v.safeParse(schema, rest);
    if (result.success) return { output: result.output, faults };
    const paths = result.issues.map((issue) => keysOf(issue));
    result.issues.forEach((issue, index) => {
      const path = paths[index] ?? [];
      if (!removed.some((gone) => isWithin(gone, path))) faults.push(faultOf(issue, [...at, ...path]));
    });
    const round: Path[] = [];
    for (const path of paths) {
      if (round.some((gone) => gone.every((key, index) => path[index] === key))) continue;
      const gone = present(rest, path);
      if (gone.length === 0) return { output: undefined, faults };
      rest = without(rest, gone);
      round.push(gone);
    }
    removed.push(...round);
  }
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names that have a special meaning in a plain object. */
export const UNUSABLE_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Returns a copy of `value` without unknown keys, and adds a fault for each of them. */
export function knownPart(schema: v.GenericSchema, value: unknown, at: Path, kind: FileKind, faults: Fault[]): unknown {
  if ('wrapped' in schema) return knownPart(schema.wrapped as v.GenericSchema, value, at, kind, faults);
  if ('options' in schema && isMapping(value)) {
    const chosen = optionFor(schema, value);
    return chosen === undefined ? value : knownPart(chosen, value, at, kind, faults);
  }
  const schemaOf = membersOf(schema);
  if (Array.isArray(value)) {
    if ('item' in schema)
      return value.map((member, index) =>
        knownPart(schema.item as v.GenericSchema, member, [...at, index], kind, faults),
      );
    // The schema would accept a list as a mapping.
    if (schemaOf === null) return value;
    faults.push({ path: formatPath(at), message: 'must be a mapping, not a list' });
    return {};
  }
  if (!isMapping(value) || schemaOf === null) return value;
  const pairs = Object.entries(value).flatMap(([key, member]) => {
    const own = schemaOf(key);
    if (own !== undefined) return [[key, knownPart(own, member, [...at, key], kind, faults)]];
    faults.push(
      'entries' in schema
        ? unknownKey([...at, key], Object.keys(entriesOf(schema)), kind)
        : forbiddenName([...at, key]),
    );
    return [];
  });
  return Object.fromEntries(pairs);
}

/** The fault of a name that is one of `UNUSABLE_NAMES`. */
export function forbiddenName(path: Path): Fault {
  return { path: formatPath(path), message: 'may not be used as a name' };
}

/** Returns the option that applies to a mapping: by its discriminator, or the only option that accepts a mapping. */
export function optionFor(
  schema: v.GenericSchema,
  value: Readonly<Record<string, unknown>>,
): v.GenericSchema | undefined {
  const options = ('options' in schema && Array.isArray(schema.options) ? schema.options : []).filter(
    (option): option is v.GenericSchema =>
      isMapping(option) && membersOf(option as unknown as v.GenericSchema) !== null,
  );
  const fitting =
    'key' in schema && typeof schema.key === 'string'
      ? options.filter((option) => takes(option, schema.key as string, value))
      : options;
  return fitting.length === 1 ? fitting[0] : undefined;
}

function takes(option: v.GenericSchema, key: string, value: Readonly<Record<string, unknown>>): boolean {
  const discriminator = entriesOf(option)[key];
  return discriminator !== undefined && v.is(discriminator, value[key]);
}

/** Returns a function that finds the schema of a key; null if any key is allowed. */
export function membersOf(schema: v.GenericSchema): ((key: string) => v.GenericSchema | undefined) | null {
  if (schema.type === 'strict_object' || schema.type === 'object') {
    const entries = entriesOf(schema);
    return (key) => (Object.hasOwn(entries, key) ? (entries[key] as v.GenericSchema) : undefined);
  }
  if (schema.type === 'record' && 'value' in schema) {
    return (key) => (UNUSABLE_NAMES.includes(key) ? undefined : (schema.value as v.GenericSchema));
  }
  return null;
}

/** Returns the keys of an object schema, plain or first in a pipe, with their schemas. */
export function entriesOf(schema: v.GenericSchema): v.ObjectEntries {
  return 'entries' in schema ? (schema.entries as v.ObjectEntries) : {};
}

function keysOf(issue: v.BaseIssue<unknown>): Path {
  return (issue.path ?? []).map(({ key }) => key as string | number);
}

/** Whether one path is inside the other: such a fault may be a consequence of the removal. */
function isWithin(gone: Path, path: Path): boolean {
  return path.every((key, index) => index >= gone.length || gone[index] === key);
}

/**
 * Returns the longest beginning of `path` that can be removed: a list is removed as a whole, because its positions
 * would move.
 */
function present(value: unknown, path: Path): Path {
  const listAt = path.findIndex((key) => typeof key === 'number');
  const keys = listAt === -1 ? path : path.slice(0, listAt);
  const holder = keys
    .slice(0, -1)
    .reduce<unknown>((inner, key) => (isMapping(inner) ? inner[String(key)] : undefined), value);
  const isThere = isMapping(holder) && Object.hasOwn(holder, String(keys.at(-1)));
  return isThere || keys.length === 0 ? keys : present(value, keys.slice(0, -1));
}

function without(value: unknown, [key, ...deeper]: Path): unknown {
  if (!isMapping(value)) return value;
  const name = String(key);
  const pairs = Object.entries(value).filter(([own]) => own !== name || deeper.length > 0);
  return Object.fromEntries(pairs.map(([own, member]) => [own, own === name ? without(member, deeper) : member]));
}
