// The secrets of a checked configuration → their values or faults; hashes that change with them.
import { resolve } from 'node:path';
import { canonicalJson, sha256Hex } from '../formats/canonical-json.ts';
import { type Fault, formatPath, type Path } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import type { Exposure } from '../secrets/file-exposure.ts';
import { fileReadFault } from '../secrets/regular-file.ts';
import { type FileReference, Secret, type SecretReference } from '../secrets/secret.ts';
import type { Config } from './config.ts';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the text of a file. @throws if it cannot be read */
  readonly readFile: (path: string) => string;
  /** Returns who else may change or read a file; absent: no check. */
  readonly exposureOf?: (path: string) => Exposure | null;
  /** The base folder of relative paths. */
  readonly directory: string;
}

interface OpenedSecrets {
  readonly opened: ReadonlyMap<Secret, string>;
  readonly faults: readonly Fault[];
}

/** Resolves all secrets in `outputs`. @param file the configuration as written, for the paths in faults */
export function openSecrets(outputs: readonly unknown[], file: unknown, around: Surroundings): OpenedSecrets {
  const opened = new Map<Secret, string>();
  const faults = outputs.flatMap(secretsIn).flatMap((secret) => {
    const value = valueOrAbsent(secret, around);
    if ('fault' in value)
      return places(file, secret.reference, []).map((path) => ({ path: formatPath(path), message: value.fault }));
    secret.open(value.text, 'file' in secret.reference ? resolve(around.directory, secret.reference.file) : null);
    opened.set(secret, value.text);
    return [];
  });
  return { opened, faults };
}

function valueOrAbsent({ reference, absent }: Secret, around: Surroundings): ReturnType<typeof lookUp> {
  const value = lookUp(reference, around);
  return 'fault' in value && absent !== null ? { text: absent } : value;
}

/** Whether all secrets in `output` have a value. */
export function areOpen(output: unknown, { opened }: OpenedSecrets): boolean {
  return secretsIn(output).every((secret) => opened.has(secret));
}

/** The parts of a configuration that may have secrets. */
type WithSecrets = Pick<Config, 'sinks'> & Partial<Pick<Config, 'http' | 'approvals'>>;

/** Returns the values of all secrets, without those that have a default, which are addresses. */
export function secretTexts({ sinks, http, approvals }: WithSecrets): readonly string[] {
  const { sources = {}, ...rest } = approvals ?? {};
  const options = [...Object.values(sinks), ...Object.values(sources)].map((each) => each.options);
  const secrets = [http, rest, ...options].flatMap(secretsIn).filter(({ absent }) => absent === null);
  return [...new Set(secrets.map((secret) => secret.reveal()))];
}

/** Returns all places in `file`, the configuration as written, that name a file whose text is handled as a secret. */
export function fileReferences(
  outputs: readonly unknown[],
  file: unknown,
): { readonly reference: FileReference; readonly path: Path }[] {
  const references = outputs.flatMap(secretsIn).map((secret) => secret.reference);
  const files = new Map(
    references.flatMap((reference) => ('file' in reference ? [[reference.file, reference] as const] : [])),
  );
  return [...files.values()].flatMap((reference) => places(file, reference, []).map((path) => ({ reference, path })));
}

/** Whether the value is `{ env: NAME }` or `{ file: PATH }`. */
function isReference(value: unknown): value is SecretReference {
  if (!isMapping(value)) return false;
  const [first, ...more] = Object.entries(value);
  return (
    more.length === 0 &&
    first !== undefined &&
    (first[0] === 'env' || first[0] === 'file') &&
    typeof first[1] === 'string'
  );
}

/** Returns the value of a reference, or why there is none. */
export function lookUp(
  reference: SecretReference,
  around: Surroundings,
): { readonly text: string } | { readonly fault: string } {
  const text =
    'env' in reference ? around.env[reference.env] : fileText(resolve(around.directory, reference.file), around);
  const origin =
    'env' in reference
      ? `the environment variable ${reference.env}`
      : `the file ${resolve(around.directory, reference.file)}`;
  if (text === undefined) return { fault: `${origin} is not set` };
  if (text instanceof Error) return { fault: `${origin} ${text.message}` };
  const value = 'file' in reference ? text.replace(/\r?\n$/, '') : text;
  return value.trim() === '' ? { fault: `${origin} is empty` } : { text: value };
}

function fileText(path: string, around: Surroundings): string | Error {
  try {
    return around.readFile(path);
  } catch (error) {
    return new Error(fileReadFault(error), { cause: error });
  }
}

function secretsIn(value: unknown): Secret[] {
  if (value instanceof Secret) return [value];
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  if (value instanceof Map) return [...value.values()].flatMap(secretsIn);
  return isMapping(value) ? Object.values(value).flatMap(secretsIn) : [];
}

/** Returns all places in the file that name this secret; the path of a certificate is a plain string. */
function places(value: unknown, reference: SecretReference, at: Path): Path[] {
  if (isReference(value)) return sameReference(value, reference) ? [at] : [];
  if (typeof value === 'string') return 'file' in reference && value === reference.file ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((member, index) => places(member, reference, [...at, index]));
  return isMapping(value)
    ? Object.entries(value).flatMap(([key, member]) => places(member, reference, [...at, key]))
    : [];
}

function sameReference(a: SecretReference, b: SecretReference): boolean {
  return 'env' in a ? 'env' in b && a.env === b.env : 'file' in b && a.file === b.file;
}

/**
 * Returns a SHA-256 in hex. Secrets are included as hashes, so a rotated one changes the result and none can be read
 * back.
 */
export function fingerprint(sink: Readonly<Record<string, unknown>>, around: Surroundings): string {
  return sha256Hex(canonicalJson(withHashes(sink, around)));
}

/**
 * Returns the configuration with `sha256` next to each secret's reference: the hash of its value in hex, or null
 * without a value.
 */
export function withHashes(
  written: Readonly<Record<string, unknown>>,
  around: Surroundings,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(written).map(([key, member]) => [key, hashed(member, around)]));
}

function hashed(value: unknown, around: Surroundings): unknown {
  if (isReference(value)) {
    const opened = lookUp(value, around);
    return { ...value, sha256: 'text' in opened ? sha256Hex(opened.text) : null };
  }
  if (Array.isArray(value)) return value.map((member) => hashed(member, around));
  return isMapping(value) ? withHashes(value, around) : value;
}
