// The JSON Schema of the configuration → bridge.yaml of a fresh installation: all keys in comments.
import packageJson from '../../package.json' with { type: 'json' };

/** The keywords of JSON Schema that this file uses. */
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

/** The differences between kinds of installation. */
export interface FreshInstallation {
  /** The path of the file. */
  readonly path: string;
  /** The command that applies most changes. */
  readonly reload: string;
  /** The command that applies the other changes. */
  readonly restart: string;
  /** The sources of `{ env }` and `{ file }`. */
  readonly secrets: string;
  readonly store: string;
  /** The lines of the active sink under `sinks:`. */
  readonly sink: readonly string[];
}

/** CloudEvents go to the journal. */
const LINUX: FreshInstallation = {
  path: '/etc/scheduled-events-bridge/bridge.yaml',
  reload: 'systemctl reload scheduled-events-bridge',
  restart: 'systemctl restart scheduled-events-bridge',
  secrets: `{ env: NAME } reads one from the file "environment" next to this one,
# { file: PATH } from a file, such as a systemd credential.`,
  store: '/var/lib/scheduled-events-bridge',
  sink: [
    '  # CloudEvents as lines of the journal: journalctl -u scheduled-events-bridge',
    '  journal:',
    '    type: stdout',
  ],
};
/** Windows has no journal: CloudEvents go to a file that is flushed for each of them, and rotated. */
export const WINDOWS: FreshInstallation = {
  path: 'C:\\ProgramData\\scheduled-events-bridge\\bridge.yaml',
  reload: 'scheduled-events-bridge-service.exe reload',
  restart: 'Restart-Service scheduled-events-bridge',
  secrets: `{ file: PATH } reads one from a file, such as secrets\\NAME
# next to this one, { env: NAME } from the environment of the service. Write paths without quotes or in single quotes: in double quotes,
# a backslash begins an escape.`,
  store: 'C:\\ProgramData\\scheduled-events-bridge\\state',
  sink: [
    '  # CloudEvents as lines of a file, which is rotated by size.',
    '  events:',
    '    type: file',
    '    path: C:\\ProgramData\\scheduled-events-bridge\\log\\events.ndjson',
    '    rotate: { size: 10MiB, keep: 7 }',
  ],
};

function head({ path, reload, restart, secrets }: FreshInstallation): string {
  return `# The configuration of scheduled-events-bridge: the active settings, and every other key as a comment.
# CloudEvents go to the sinks under "sinks:", line ${SINKS}.
${SECTIONS}
# "# " with a space begins a description of the key below it. "#" without a space begins a setting with its default, or with an example if
# it has none: to use it, remove the # of the key and of the keys above it that contain it. Afterwards:
#   scheduled-events-bridge check --config ${path}
#   ${reload}
# A reload is enough for all but a few keys; the log names those, and they need: ${restart}
# Do not write secrets into this file: ${secrets}
# Pages with examples: ${packageJson.homepage}/tree/main/docs/operate`;
}

/** Placeholders for line numbers, which are known at the end. */
const [SINKS, SECTIONS] = ['<sinks>', '<sections>'];

/** The active settings, by path; STORE is replaced at the end. */
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

/** Returns the lines of a key with its description, and of the keys below it. */
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
  const mappings = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(
    (each) => each.properties || each.items?.properties,
  );
  return mappings[0] ? children(path, { ...mappings[0], ...together(mappings) }) : [];
}

/** Merges the keys of several kinds of mapping; a shared key has the description of the first kind. */
function together(mappings: readonly Schema[]): Pick<Schema, 'properties'> {
  const all = mappings.toReversed().map(({ properties }) => properties ?? {});
  return mappings.length === 1 ? {} : { properties: Object.assign({}, ...all) };
}

/** Returns the entries of a section: one for each kind. */
function named(path: readonly string[], entry: Schema): readonly string[] {
  const kinds = entry.oneOf ?? [entry];
  return kinds.flatMap((kind) => setting([...path, `my-${kind.properties?.['type']?.const ?? 'name'}`], kind));
}

/** Returns a list of mappings: the first key begins the entry. */
function listed(path: readonly string[], entry: Schema): readonly string[] {
  const lines = Object.entries(entry.properties ?? {}).flatMap(([name, value]) => setting([...path, '', name], value));
  const first = lines.findIndex((line) => /^ *#\S/.test(line));
  return lines.map((line, index) => (index === first ? line.replace(/^( *) {2}#/, '$1#- ') : line));
}

/** Whether the value can be `{ env }` or `{ file }`, possibly also plain text. */
function isReference({ anyOf = [] }: Schema): boolean {
  return anyOf.some(
    ({ properties }) =>
      properties !== undefined && Object.keys(properties).every((key) => key === 'env' || key === 'file'),
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
    if (last !== undefined && last.length + word.length < WIDTH - indent.length)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}# ${line}`);
}
