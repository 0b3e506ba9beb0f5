// Two checked configurations → the paths that differ, and those of them that need a restart.
import { isDeepStrictEqual } from 'node:util';
import { formatPath, type Path } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import type { Config } from './config.ts';

/** A valid configuration in the form of its file, with the hash of each secret's value next to its reference. */
export type Written = Readonly<Record<string, unknown>>;

/** Mappings whose members are compared one by one, even if the whole mapping is absent on one side. */
const SECTIONS: ReadonlySet<string> = new Set([
  ...['', 'metadata', 'cloudevents', 'publish', 'store', 'http', 'approvals', 'log', 'sinks'],
  ...['approvals.approvers', 'approvals.sources', 'approvals.windows', 'approvals.budgets', 'http.readers'],
]);

/** Settings that a running bridge cannot change, by their path; docs/operate/reload.md has the reasons. */
const RESTARTS: readonly (readonly [path: string, settingOf: (config: Config) => unknown])[] = [
  ['metadata.endpoint', ({ metadata }) => metadata.endpoint],
  ['metadata.apiVersion', ({ metadata }) => metadata.apiVersion],
  ['cloudevents.source', ({ cloudevents }) => cloudevents.source],
  ['cloudevents.observer', ({ cloudevents }) => cloudevents.observer],
  ['store', ({ store }) => store],
  ['http.listen', ({ http }) => http.listen],
  ['http.tls', ({ http: { tls } }) => tls && [tls.cert.file, tls.key.file, tls.clientCa?.file]],
  ['http.health', ({ http }) => http.health],
];

/**
 * Returns the settings of `RESTARTS` that differ. Values include defaults, so writing a default into the file is not a
 * change.
 */
export function needsRestart(before: Config, after: Config): readonly string[] {
  return RESTARTS.flatMap(([path, settingOf]) =>
    isDeepStrictEqual(settingOf(before), settingOf(after)) ? [] : [path],
  );
}

/**
 * Returns the longest paths that contain each difference, such as `sinks.hooks.url`. Lists, secrets (also if only the
 * value differs), and added or removed entries are reported as a whole.
 */
export function configChanges(before: Written, after: Written): readonly string[] {
  return differences(before, after, []).map((path) => formatPath(path));
}

function differences(before: unknown, after: unknown, at: Path): Path[] {
  const [old, current] = [mapping(before, at), mapping(after, at)];
  if (old === null || current === null) return isDeepStrictEqual(before, after) ? [] : [at];
  const keys = new Set([...Object.keys(old), ...Object.keys(current)]);
  return [...keys].flatMap((key) => differences(old[key], current[key], [...at, key]));
}

/** Returns null for a value that is reported as a whole. */
function mapping(value: unknown, at: Path): Written | null {
  if (value === undefined && SECTIONS.has(formatPath(at))) return {};
  return isMapping(value) && !('sha256' in value) ? value : null;
}

/** Whether one of the paths is `path`, is inside it, or contains it. */
export function touches(paths: readonly string[], path: string): boolean {
  return paths.some((each) => each === path || each.startsWith(`${path}.`) || path.startsWith(`${each}.`));
}
