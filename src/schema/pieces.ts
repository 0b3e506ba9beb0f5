// Texts of a file → durations, sizes, secrets, names: schemas that many parts share.
import * as v from 'valibot';
import { DURATION_PATTERN, parseDuration } from '../formats/durations.ts';
import { parseSize, SIZE_PATTERN } from '../formats/sizes.ts';
import { Secret } from '../secrets/secret.ts';
import type { Path } from './faults.ts';

/**
 * A schema provides types, validation, defaults, `check --schema` and documentation: give every key a `v.description`.
 */
export type Schema<Output> = v.GenericSchema<unknown, Output>;

/** The read-only output of a schema: an absent key and an undefined one are the same. */
export type OptionsOf<S extends v.GenericSchema> = Read<v.InferOutput<S>>;

type Read<T> = T extends Secret
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: Read<T[Key]> | (Partial<Pick<T, Key>> extends Pick<T, Key> ? undefined : never) }
    : T;

/** The read-only output of the entries of a mapping. */
export type EntriesOf<Entries extends v.ObjectEntries> = OptionsOf<v.StrictObjectSchema<Entries, undefined>>;

/** A fault at a key of a mapping, or at a path in it; an empty path means the mapping itself. */
export type MappingFault = { readonly message: string } & ({ readonly key: string } | { readonly path: Path });

/** Returns a check of combinations of keys, for the pipe of a mapping. */
export function rules<Options>(faultsOf: (options: Options) => readonly MappingFault[]) {
  return v.rawCheck<Options>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const fault of faultsOf(dataset.value)) {
      const [first, ...rest] = issuePath(dataset.value, 'path' in fault ? fault.path : [fault.key]);
      addIssue({ message: fault.message, ...(first && { path: [first, ...rest] }) });
    }
  });
}

/** Returns a check that reports `message` at `key` if `holds` returns false. */
export function rule<Options>(key: keyof Options & string, holds: (options: Options) => boolean, message: string) {
  return rules<Options>((options) => (holds(options) ? [] : [{ key, message }]));
}

/** Returns a path for valibot: each key with its parent value. */
function issuePath(value: unknown, path: Path): v.IssuePathItem[] {
  let input = value;
  return path.map((key) => {
    const item = { type: 'unknown', origin: 'value', input, key, value: Object(input)[key] as unknown } as const;
    input = item.value;
    return item;
  });
}

/** Returns a check that rejects a text if `faultOf` returns a message. */
export function withoutFault(faultOf: (text: string) => string | null) {
  return v.rawCheck<string>(({ dataset, addIssue }) => {
    const message = dataset.typed ? faultOf(dataset.value) : null;
    if (message !== null) addIssue({ message });
  });
}

/** True or false; `usual` by default. */
export function flag(usual: boolean, description: string) {
  return v.pipe(v.optional(v.boolean(), usual), v.description(description));
}

/** One of `options`; `usual` by default. @param message for any other value */
export function choice<const Options extends readonly string[]>(
  options: Options,
  usual: NoInfer<Options[number]>,
  description: string,
  message?: string,
) {
  return v.pipe(
    v.optional(v.picklist(options, message), () => usual),
    v.description(description),
  );
}

/** `500ms`, `10s`, `15m`, `30d` → milliseconds. */
export function duration() {
  const message = 'must be a duration such as 500ms, 10s, 15m or 30d';
  return v.pipe(
    v.string(message),
    v.regex(new RegExp(DURATION_PATTERN), message),
    v.transform((text) => parseDuration(text) as number),
    v.number(message),
  );
}

/** A duration from `least` to `most`, both included, in milliseconds. */
export function durationBetween(least: string, most: string, description: string) {
  const [leastMs, mostMs] = [parseDuration(least), parseDuration(most)] as [number, number];
  return v.pipe(
    duration(),
    v.check((ms) => ms >= leastMs && ms <= mostMs, `must be between ${least} and ${most}`),
    v.description(`${description} From ${least} to ${most}.`),
  );
}

/** `512B`, `64KiB`, `1MiB` → bytes. */
export function size() {
  const message = 'must be a size such as 512B, 64KiB or 1MiB';
  return v.pipe(
    v.string(message),
    v.regex(new RegExp(SIZE_PATTERN), message),
    v.transform((text) => parseSize(text) as number),
    v.number(message),
  );
}

/** A size from `least` to `most`, both included, in bytes. */
export function sizeBetween(least: string, most: string) {
  const [leastBytes, mostBytes] = [parseSize(least), parseSize(most)] as [number, number];
  return v.pipe(
    size(),
    v.check((bytes) => bytes >= leastBytes && bytes <= mostBytes, `must be from ${least} to ${most}`),
  );
}

/** A whole number from `least` to `most`, both included. */
export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message));
}

/** A time limit in milliseconds, below the five minutes after which a lane abandons a delivery. */
export function timeLimit(most = '4m') {
  return v.pipe(
    duration(),
    v.minValue(1, 'must be at least 1ms'),
    v.maxValue(parseDuration(most) as number, `must be at most ${most}`),
  );
}

/** `{ env: NAME }` or `{ file: PATH }` → Secret; a literal is rejected. */
export function secret() {
  return v.pipe(
    v.union(
      [
        v.strictObject({ env: v.pipe(v.string(), v.minLength(1)) }),
        v.strictObject({ file: v.pipe(v.string(), v.minLength(1)) }),
      ],
      'must be { env: NAME } or { file: PATH }: do not write secrets into the configuration',
    ),
    v.transform((reference) => new Secret(reference)),
  );
}

/** The name of a sink, an approver or a reader, which becomes part of paths, labels and log lines. */
export function name() {
  return v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'is not a valid name: use 1 to 64 letters, digits, _ or -'),
  );
}

/** A list of at least one text, none of them empty. */
export function texts(description: string) {
  const text = v.pipe(v.string(), v.minLength(1));
  return v.pipe(
    v.array(text),
    v.minLength(1, 'must not be empty: remove the key to set no condition'),
    v.description(description),
  );
}

/**
 * `true`, `false`, or a mapping. The value's type selects the schema, so that a fault inside the mapping has its own
 * path.
 * @param message for a value that is neither
 */
export function flagOr<const Section extends v.GenericSchema>(section: Section, message: string) {
  const flag = v.boolean(message);
  const union = v.union([flag, section], message);
  const run: (typeof union)['~run'] = (dataset, config) => {
    const isMapping = typeof dataset.value === 'object' && dataset.value !== null && !Array.isArray(dataset.value);
    return (isMapping ? section : flag)['~run'](dataset, config) as ReturnType<(typeof union)['~run']>;
  };
  return { ...union, '~run': run };
}
