// Two checked configurations → the paths that differ, and those of them that need a restart.
import { isDeepStrictEqual } from 'node:util';
import { formatPath, type Path } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import type { Config } from './config.ts';

/** A valid configuration as its file writes it, each secret with the hash of its value beside its reference. */
export type Written = Readonly<Record<string, unknown>>;

/** Mappings whose members stand for themselves, though the whole is absent on one side. */
const SECTIONS: ReadonlySet<string> = new Set([
  ...['', 'metadata', 'cloudevents', 'publish', 'store', 'http', 'approvals', 'log', 'sinks'],
  ...['approvals.approvers', 'approvals.sources', 'http.readers'],
]);

/** What a running bridge keeps until its end, in the words of the file: docs/operate/reload.md tells why. */
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

/** Which settings of `RESTARTS` have another value, defaults included: a default that is written down changes nothing. */
export function needsRestart(before: Config, after: Config): readonly string[] {
  return RESTARTS.flatMap(([path, settingOf]) => (isDeepStrictEqual(settingOf(before), settingOf(after)) ? [] : [path]));
}

/**
 * The paths that differ, as `sinks.hooks.url`: the shortest that holds no more than the difference. A list, a secret (also one whose value
 * alone is another), and an entry that came or went are told as a whole.
 */
export function configChanges(before: Written, after: Written): readonly string[] {
  return differences(before, after, []).map((path) => formatPath(path));
}

function differences(before: unknown, after: unknown, at: Path): Path[] {
  const [one, other] = [mapping(before, at), mapping(after, at)];
  if (one === null || other === null) return isDeepStrictEqual(before, after) ? [] : [at];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], [...at, key]));
}

/** Null for what is told as a whole. */
function mapping(value: unknown, at: Path): Written | null {
  if (value === undefined && SECTIONS.has(formatPath(at))) return {};
  return isMapping(value) && !('sha256' in value) ? value : null;
}

/** Whether one of the paths is `path`, lies in it, or holds it. */
export function touches(paths: readonly string[], path: string): boolean {
  return paths.some((each) => each === path || each.startsWith(`${path}.`) || path.startsWith(`${each}.`));
}
