// The JSON Schema of the configuration → bridge.yaml of a fresh installation: all keys as comments.

/** What is used here of a JSON Schema. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

const WIDTH = 120;
/** What differs from one kind of installation to another. */
export interface FreshInstallation {
  /** Where the file lies. */
  readonly path: string;
  /** How the service takes up most of it. */
  readonly reload: string;
  /** How it takes up the rest. */
  readonly restart: string;
  /** Where `{ env }` and `{ file }` come from. */
  readonly secrets: string;
  readonly store: string;
  /** The working sink, as it stands under `sinks:`. */
  readonly sink: readonly string[];
}

/** The journal has the CloudEvents. */
const LINUX: FreshInstallation = {
  path: '/etc/scheduled-events-bridge/bridge.yaml',
  reload: 'systemctl reload scheduled-events-bridge',
  restart: 'systemctl restart scheduled-events-bridge',
  secrets: `{ env: NAME } takes one from the file environment beside this one,
# { file: PATH } from a file, such as a systemd credential.`,
  store: '/var/lib/scheduled-events-bridge',
  sink: ['  # CloudEvents as lines of the journal: journalctl -u scheduled-events-bridge', '  journal:', '    type: stdout'],
};
/** Windows has no journal: a file that is flushed for each CloudEvent, and renamed before it grows large. */
export const WINDOWS: FreshInstallation = {
  path: 'C:\\ProgramData\\scheduled-events-bridge\\bridge.yaml',
  reload: 'scheduled-events-bridge-service.exe reload',
  restart: 'Restart-Service scheduled-events-bridge',
  secrets: `{ file: PATH } takes one from a file, such as secrets\\NAME
# beside this one, { env: NAME } from the environment of the service. Paths stand in no quotes or in single ones: in double quotes, a
# backslash begins an escape.`,
  store: 'C:\\ProgramData\\scheduled-events-bridge\\state',
  sink: [
    '  # CloudEvents as lines of a file, which is renamed before it grows too large.',
    '  events:',
    '    type: file',
    '    path: C:\\ProgramData\\scheduled-events-bridge\\log\\events.ndjson',
    '    rotate: { size: 10MiB, keep: 7 }',
  ],
};

function head({ path, reload, restart, secrets }: FreshInstallation): string {
  return `# The configuration of scheduled-events-bridge: what is set, and every key that can be set.
# CloudEvents go to what stands under "sinks:", line ${SINKS}.
${SECTIONS}
# A "#" with a blank begins words about the key below them. A "#" without one is a setting with its default, or with an example if it has
# none: take the # away, and that of the keys that it stands under. Afterwards:
#   scheduled-events-bridge check --config ${path}
#   ${reload}
# A reload is enough for all but a few keys; the log names those, and they take: ${restart}
# Secrets never stand here: ${secrets}
# Pages with examples: https://github.com/scheduled-events-bridge/scheduled-events-bridge/tree/main/docs/operate`;
}

/** In which lines they stand is put in at the end. */
const [SINKS, SECTIONS] = ['<sinks>', '<sections>'];

/** What is set, by path; the store's folder is put in at the end. */
const STORE = '<store>';
const SET: Readonly<Record<string, string>> = { version: '1', store: '', 'store.path': STORE, sinks: '' };

export function referenceConfig(schema: Schema, fresh: FreshInstallation = LINUX): string {
  const keys = Object.entries(schema.properties ?? {}).flatMap(([name, value]) => ['', ...setting([name], value)]);
  const lines = keys.map((line) => line.replace(STORE, () => fresh.store));
  const sinks = lines.lastIndexOf('sinks:') + 1;
  const whole = [...head(fresh).split('\n'), ...lines.slice(0, sinks), ...fresh.sink, ...lines.slice(sinks)];
  const lineOf = (name: string) => whole.findIndex((line) => line.replace('#', '').startsWith(`${name}:`)) + 1;
  const names = Object.keys(schema.properties ?? {}).filter((name) => name !== 'version');
  const index = `# Sections, by line: ${names.map((name) => `${name} ${lineOf(name)}`).join(', ')}.`;
  return `${whole
    .join('\n')
    .replace(SINKS, String(lineOf('sinks')))
    .replace(SECTIONS, index)}\n`;
}

/** A key with its words, and all that lies beneath it. */
function setting(path: readonly string[], schema: Schema): readonly string[] {
  const indent = '  '.repeat(path.length - 1);
  const name = path.at(-1) ?? '';
  const set = SET[path.join('.')];
  const below = children(path, schema);
  const value = set ?? (below.length > 0 ? '' : example(schema));
  const line = `${indent}${set === undefined ? '#' : ''}${name}:${value === '' ? '' : ` ${value}`}`;
  return [...words(schema.description, indent), line, ...below];
}

function children(path: readonly string[], schema: Schema): readonly string[] {
  const { properties, additionalProperties, items } = schema;
  if (isReference(schema)) return [];
  if (properties) return Object.entries(properties).flatMap(([name, value]) => setting([...path, name], value));
  if (typeof additionalProperties === 'object') return named(path, additionalProperties);
  if (items?.properties) return listed(path, items);
  const mappings = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter((each) => each.properties || each.items?.properties);
  return mappings[0] ? children(path, { ...mappings[0], ...together(mappings) }) : [];
}

/** The keys of several kinds of mapping; of those that they share, the first one's words. */
function together(mappings: readonly Schema[]): Pick<Schema, 'properties'> {
  const all = mappings.toReversed().map(({ properties }) => properties ?? {});
  return mappings.length === 1 ? {} : { properties: Object.assign({}, ...all) };
}

/** Entries by name: one for each kind. */
function named(path: readonly string[], entry: Schema): readonly string[] {
  const kinds = entry.oneOf ?? [entry];
  return kinds.flatMap((kind) => setting([...path, `my-${kind.properties?.['type']?.const ?? 'name'}`], kind));
}

/** A list of mappings: its first key begins the entry. */
function listed(path: readonly string[], entry: Schema): readonly string[] {
  const lines = Object.entries(entry.properties ?? {}).flatMap(([name, value]) => setting([...path, '', name], value));
  const first = lines.findIndex((line) => /^ *#\S/.test(line));
  return lines.map((line, index) => (index === first ? line.replace(/^( *) {2}#/, '$1#- ') : line));
}

/** `{ env }` or `{ file }`, perhaps besides a text. */
function isReference({ anyOf = [] }: Schema): boolean {
  return anyOf.some(
    ({ properties }) => properties !== undefined && Object.keys(properties).every((key) => key === 'env' || key === 'file'),
  );
}

function example(schema: Schema): string {
  if (schema.default !== undefined) return schema.default === null ? '~' : JSON.stringify(schema.default);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return JSON.stringify(schema.enum[0]);
  if (isReference(schema)) return '{ env: NAME }';
  if (schema.items) return `[${example(schema.items)}]`;
  if (schema.anyOf?.[0]) return example(schema.anyOf[0]);
  return { integer: '1', number: '1', boolean: 'true', object: '{}' }[schema.type ?? ''] ?? '"…"';
}

function words(text: string | undefined, indent: string): readonly string[] {
  if (text === undefined) return [];
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < WIDTH - indent.length) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}# ${line}`);
}
