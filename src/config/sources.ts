// The section `approvals.sources` and the adapters → each source's options, and faults.
import * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import type { ApprovalSourceDefinition } from '../../adapters/approval-source.ts';
import { type Fault, formatPath, nearest, type Path } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import { type EntryType, type ReadEntry, readEntries } from './entries.ts';
import type { ReadSink } from './sinks.ts';

/** The keys of every source, apart from `type` and the keys of its adapter. */
export const sourceCommon = v.strictObject({
  approver: v.pipe(
    v.string(),
    v.minLength(1, 'must not be empty'),
    v.description(
      'The approver of this source: a name in approvals.approvers. Anyone who can write to the queue or topic approves in this name.',
    ),
  ),
});

export type SourceCommon = v.InferOutput<typeof sourceCommon>;

/** A source of a known type; its secrets are not resolved yet. */
export type ReadSource = ReadEntry<ApprovalSourceDefinition<unknown>, SourceCommon>;

/** Returns the types that can be approval sources. */
export function sourceTypes(
  adapters: readonly AdapterDefinition<unknown>[],
): readonly EntryType<ApprovalSourceDefinition<unknown>>[] {
  return adapters.flatMap(({ type, source }) =>
    source ? [{ type, options: source.options, definition: source }] : [],
  );
}

/** @param approvals in the form of the file */
export function readSources(
  approvals: unknown,
  adapters: readonly AdapterDefinition<unknown>[],
): { readonly sources: readonly ReadSource[]; readonly faults: readonly Fault[] } {
  const section = sourcesIn(approvals);
  if (section === undefined) return { sources: [], faults: [] };
  const at = ['approvals', 'sources'];
  if (!isMapping(section))
    return { sources: [], faults: [{ path: formatPath(at), message: 'must be a mapping from names to sources' }] };
  const kinds = { at, noun: 'source of approvals', types: sourceTypes(adapters), common: sourceCommon };
  const { entries, faults } = readEntries(section, kinds);
  return { sources: entries, faults: [...faults, ...approverFaults(section, approversIn(approvals))] };
}

/** Sources that would take each other's messages. @param sources valid ones with resolved secrets */
export function sharedStreams(sources: readonly ReadSource[]): Fault[] {
  const readers = new Map<string, string>();
  return sources.flatMap(({ name, type, definition, options }) => {
    const streams = definition.streamsOf(options).map((stream) => `${type} ${stream}`);
    const other = streams.map((stream) => readers.get(stream)).find((reader) => reader !== undefined);
    for (const stream of streams) readers.set(stream, readers.get(stream) ?? name);
    if (other === undefined) return [];
    const message = `reads the same messages as approvals.sources.${other}, so each message would reach only one of them: use separate queues, or remove one`;
    return [{ path: formatPath(['approvals', 'sources', name]), message }];
  });
}

const PROOFS = ['token', 'tokens', 'certificate', 'subject'];

/** Approvers that can never approve: without credentials, and without a source or sink that names them. */
export function silentApprovers(approvals: unknown, sinks: unknown): Fault[] {
  const withoutCredentials = [...namedIn(sourcesIn(approvals), 'approver'), ...namedIn(sinks, 'approve')];
  return Object.entries(approversIn(approvals)).flatMap(([name, approver]) => {
    if (!isMapping(approver) || PROOFS.some((key) => key in approver) || withoutCredentials.includes(name)) return [];
    const path = formatPath(['approvals', 'approvers', name]);
    return [
      {
        path,
        message: `needs a token, a certificate, a subject, a source in approvals.sources with approver: ${name}, or a sink with approve: ${name}`,
      },
    ];
  });
}

/** Returns the value of `key` of each entry of a section. */
function namedIn(section: unknown, key: string): readonly unknown[] {
  return isMapping(section) ? Object.values(section).map((entry) => isMapping(entry) && entry[key]) : [];
}

/** Sinks that approve for a name that is not an approver. @param sinks valid ones with resolved secrets */
export function speakerFaults(sinks: readonly ReadSink[], approvals: unknown): Fault[] {
  const approvers = approversIn(approvals);
  return sinks.flatMap(({ name, definition, options }) => {
    const approver = definition.approverOf?.(options)?.name;
    return approver === undefined || Object.hasOwn(approvers, approver)
      ? []
      : [unlisted(['sinks', name, 'approve'], approver, approvers)];
  });
}

function unlisted(at: Path, approver: string, approvers: Readonly<Record<string, unknown>>): Fault {
  const suggestion = nearest(approver, Object.keys(approvers));
  const message = 'is not a name in approvals.approvers';
  return { path: formatPath(at), message, ...(suggestion === undefined ? {} : { suggestion }) };
}

function approverFaults(
  section: Readonly<Record<string, unknown>>,
  approvers: Readonly<Record<string, unknown>>,
): Fault[] {
  return Object.entries(section).flatMap(([name, source]) => {
    const approver = isMapping(source) ? source['approver'] : undefined;
    if (typeof approver !== 'string' || approver === '' || Object.hasOwn(approvers, approver)) return [];
    return [unlisted(['approvals', 'sources', name, 'approver'], approver, approvers)];
  });
}

function sourcesIn(approvals: unknown): unknown {
  return isMapping(approvals) ? approvals['sources'] : undefined;
}

function approversIn(approvals: unknown): Readonly<Record<string, unknown>> {
  const approvers = isMapping(approvals) ? approvals['approvers'] : undefined;
  return isMapping(approvers) ? approvers : {};
}
