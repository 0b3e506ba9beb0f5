// A section of named entries with a type → each entry's options, and faults.
import * as v from 'valibot';
import { type Fault, faultOf, formatPath, nearest, type Path, unknownKey } from '../schema/faults.ts';
import { name as nameSchema, type Schema } from '../schema/pieces.ts';
import { entriesOf, forbiddenName, isMapping, knownPart, UNUSABLE_NAMES, validate } from '../schema/validate.ts';
import { kindByOtherName } from './other-names.ts';

/** One type that an entry may have. */
export interface EntryType<Definition> {
  readonly type: string;
  /** The schema of the keys that only this type has. */
  readonly options: Schema<unknown>;
  readonly definition: Definition;
}

interface EntryKinds<Definition, Common> {
  /** The path of the section, such as `sinks`. */
  readonly at: Path;
  /** The name of an entry in faults, such as `sink`. */
  readonly noun: string;
  readonly types: readonly EntryType<Definition>[];
  /** The schema of the keys that every entry has, apart from `type`: a strict object. */
  readonly common: Schema<Common>;
}

/** An entry of a known type; its secrets are not resolved yet. */
export interface ReadEntry<Definition, Common> {
  readonly name: string;
  readonly type: string;
  readonly definition: Definition;
  /** Undefined if invalid. */
  readonly common: Common | undefined;
  /** Undefined if invalid. */
  readonly options: unknown;
  /** In the form of the file. */
  readonly written: Readonly<Record<string, unknown>>;
}

/** @param section in the form of the file */
export function readEntries<Definition, Common>(
  section: Readonly<Record<string, unknown>>,
  kinds: EntryKinds<Definition, Common>,
): { readonly entries: readonly ReadEntry<Definition, Common>[]; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const entries = Object.entries(section).flatMap(([name, written]) => readEntry(name, written, kinds, faults));
  return { entries, faults };
}

function readEntry<Definition, Common>(
  name: string,
  written: unknown,
  kinds: EntryKinds<Definition, Common>,
  faults: Fault[],
): ReadEntry<Definition, Common>[] {
  const at = [...kinds.at, name];
  const named = v.safeParse(nameSchema(), name);
  if (!named.success) faults.push(faultOf(named.issues[0], at));
  if (UNUSABLE_NAMES.includes(name)) faults.push(forbiddenName(at));
  if (!isMapping(written)) {
    faults.push({ path: formatPath(at), message: 'must be a mapping with a type' });
    return [];
  }
  const kind = kinds.types.find(({ type }) => type === written['type']);
  if (!kind) {
    faults.push(
      unknownType(written['type'], at, kinds),
      ...validate(kinds.common, commonPart(written, kinds), at, 'configuration').faults,
    );
    if (written['type'] === undefined) faults.push(...keysOfNoType(written, at, kinds));
    return [];
  }
  const { type, definition } = kind;
  return [{ name, type, definition, written, ...readOptions(kind, written, at, kinds, faults) }];
}

/** Validates each key with the schema that has it; a key that neither schema has is a fault. */
function readOptions<Definition, Common>(
  { options: ownSchema }: EntryType<Definition>,
  { type: _, ...written }: Readonly<Record<string, unknown>>,
  at: Path,
  kinds: EntryKinds<Definition, Common>,
  faults: Fault[],
): Pick<ReadEntry<Definition, Common>, 'common' | 'options'> {
  const all = v.strictObject({ type: v.string(), ...entriesOf(ownSchema), ...entriesOf(kinds.common) });
  const known = knownPart(all, written, at, 'configuration', faults) as Record<string, unknown>;
  const shared = commonPart(known, kinds);
  const own = Object.fromEntries(Object.entries(known).filter(([key]) => !Object.hasOwn(shared, key)));
  const common = validate(kinds.common, shared, at, 'configuration');
  const options = validate(ownSchema, own, at, 'configuration');
  faults.push(...common.faults, ...options.faults);
  return { common: common.output, options: options.output };
}

function commonPart<Common>(
  written: Readonly<Record<string, unknown>>,
  { common }: { readonly common: Schema<Common> },
) {
  return Object.fromEntries(Object.entries(written).filter(([key]) => Object.hasOwn(entriesOf(common), key)));
}

function unknownType<Definition, Common>(
  type: unknown,
  at: Path,
  { noun, types }: EntryKinds<Definition, Common>,
): Fault {
  const known = types.map((each) => each.type);
  const path = formatPath([...at, 'type']);
  const allowed = known.join(', ');
  if (type === undefined) return { path, message: 'is missing', allowed };
  const suggestion = typeof type === 'string' ? (kindByOtherName(type, known) ?? nearest(type, known)) : undefined;
  return { path, message: `is not a type of ${noun}`, allowed, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** Reports keys that no type has: without a type the valid keys are unknown, but a misspelt `typ` may be the cause. */
function keysOfNoType<Definition, Common>(
  written: Readonly<Record<string, unknown>>,
  at: Path,
  { types, common }: EntryKinds<Definition, Common>,
): Fault[] {
  const own = types.flatMap(({ options }) => Object.keys(entriesOf(options)));
  const known = [...new Set(['type', ...own, ...Object.keys(entriesOf(common))])];
  return Object.keys(written).flatMap((key) =>
    known.includes(key) ? [] : [unknownKey([...at, key], known, 'configuration')],
  );
}
