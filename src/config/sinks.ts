// The section `sinks` of the file and the adapters there are → each sink's options, and what is wrong with them.
import * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { type Fault, faultOf, formatPath, nearest, type Path, unknownKey } from '../validation/faults.ts';
import { entriesOf, forbiddenName, isMapping, knownPart, UNUSABLE_NAMES, validate } from '../validation/validate.ts';
import { name as nameSchema } from './fields.ts';
import { type SinkCommon, sinkCommon } from './sink-section.ts';

/** A sink that fits its schemas; secrets still closed. */
export interface ReadSink {
  readonly name: string;
  readonly adapter: AdapterDefinition<unknown>;
  readonly common: SinkCommon | undefined;
  readonly options: unknown;
  /** As the file writes it. */
  readonly written: Readonly<Record<string, unknown>>;
}

/** Without the section, the data goes to standard output. */
const DEFAULT_SINKS = { stdout: { type: 'stdout' } };

/** `sinks` as the file has it, undefined where it has none. */
export function readSinks(
  sinks: unknown,
  adapters: readonly AdapterDefinition<unknown>[],
): { readonly sinks: readonly ReadSink[]; readonly faults: readonly Fault[] } {
  const section = sinks === undefined ? DEFAULT_SINKS : sinks;
  if (!isMapping(section)) return { sinks: [], faults: [{ path: 'sinks', message: 'must be a mapping from names to sinks' }] };
  const entries = Object.entries(section);
  const faults: Fault[] =
    entries.length === 0 ? [{ path: 'sinks', message: 'is empty: name a sink, or leave the key out for standard output' }] : [];
  faults.push(...secondStdout(entries));
  const read = entries.flatMap(([name, written]) => readSink(name, written, adapters, faults));
  return { sinks: read, faults };
}

function readSink(name: string, written: unknown, adapters: readonly AdapterDefinition<unknown>[], faults: Fault[]): ReadSink[] {
  const at = ['sinks', name];
  const named = v.safeParse(nameSchema(), name);
  if (!named.success) faults.push(faultOf(named.issues[0], at));
  if (UNUSABLE_NAMES.includes(name)) faults.push(forbiddenName(at));
  if (!isMapping(written)) {
    faults.push({ path: formatPath(at), message: 'must be a mapping with a type' });
    return [];
  }
  const adapter = adapters.find(({ type }) => type === written['type']);
  if (!adapter) {
    const { retry, filter } = written;
    faults.push(unknownType(written['type'], at, adapters), ...validate(sinkCommon, given({ retry, filter }), at, 'configuration').faults);
    if (written['type'] === undefined) faults.push(...keysOfNoType(written, at, adapters));
    return [];
  }
  return [{ name, adapter, written, ...readOptions(adapter, written, at, faults) }];
}

/** The sink's keys go to the two schemas that they belong to; a key of neither is a fault. */
function readOptions(
  adapter: AdapterDefinition<unknown>,
  { type: _, ...written }: Record<string, unknown>,
  at: Path,
  faults: Fault[],
): Pick<ReadSink, 'common' | 'options'> {
  const all = v.strictObject({ type: v.string(), ...entriesOf(adapter.options), ...sinkCommon.entries });
  const { retry, filter, ...own } = knownPart(all, written, at, 'configuration', faults) as Record<string, unknown>;
  const common = validate(sinkCommon, given({ retry, filter }), at, 'configuration');
  const options = validate(adapter.options, own, at, 'configuration');
  faults.push(...common.faults, ...options.faults);
  return { common: common.output, options: options.output };
}

function given(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function unknownType(type: unknown, at: Path, adapters: readonly AdapterDefinition<unknown>[]): Fault {
  const types = adapters.map((adapter) => adapter.type);
  const path = formatPath([...at, 'type']);
  if (type === undefined) return { path, message: 'is missing', allowed: types.join(', ') };
  const suggestion = typeof type === 'string' ? nearest(type, types) : undefined;
  return { path, message: 'is no kind of sink', allowed: types.join(', '), ...(suggestion === undefined ? {} : { suggestion }) };
}

/** Without a type nobody knows which keys belong here, but some belong to no type: `typ` may be why it has none. */
function keysOfNoType(written: Readonly<Record<string, unknown>>, at: Path, adapters: readonly AdapterDefinition<unknown>[]): Fault[] {
  const own = adapters.flatMap(({ options }) => Object.keys(entriesOf(options)));
  const known = [...new Set(['type', ...own, ...Object.keys(sinkCommon.entries)])];
  return Object.keys(written).flatMap((key) => (known.includes(key) ? [] : [unknownKey([...at, key], known, 'configuration')]));
}

/** Their lines would run into each other. */
function secondStdout(entries: readonly (readonly [string, unknown])[]): Fault[] {
  const names = entries.filter(([, sink]) => isMapping(sink) && sink['type'] === 'stdout').map(([name]) => name);
  return names.slice(1).map((name) => ({
    path: formatPath(['sinks', name]),
    message: `is a second stdout sink beside sinks.${names[0]}: there is one standard output`,
  }));
}
