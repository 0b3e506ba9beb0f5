// docs/schemas/*.json → src/consumer/schema-types.ts; `npm run schema-types` writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from 'json-schema-to-typescript';

const ROOT = join(import.meta.dirname, '../..');
export const SCHEMA_TYPES = join(ROOT, 'src/consumer/schema-types.ts');

const NAMES = { change: 'ChangeData', approval: 'ApprovalData', source: 'SourceData' } as const;

type Schema = Parameters<typeof compile>[0] & {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Member>>;
};

interface Member {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, object>>;
}

/** The fields of a VM, which the observer of each kind may have. */
const VM = 'ObservedVm';

/** The file's text, as it has to stand. */
export async function schemaTypes(): Promise<string> {
  const kinds = Object.keys(NAMES) as (keyof typeof NAMES)[];
  const types = await Promise.all([
    ...kinds.map((kind) => typesOf(withSharedVm(schema(kind)), NAMES[kind])),
    typesOf(vmOf(schema('change')), VM),
  ]);
  const shapes = kinds.map((kind) => `  ${kind}: ${JSON.stringify(shapeOf(schema(kind)))},`);
  const head = '// docs/schemas/*.json → the types of `data` and its fixed members; by `npm run schema-types`.';
  const table = `/** The members that \`data\` always has, each with the JSON types that it may be of. */\nexport const SHAPES = {\n${shapes.join('\n')}\n} as const;`;
  return `${head}\n\n/* biome-ignore-all format: generated */\n\n${types.join('\n')}\n${table}\n`;
}

async function typesOf({ $id, ...rest }: Schema, title: string): Promise<string> {
  // Members may be added within v1, but a misspelt one is more likely.
  const options = {
    additionalProperties: false,
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 120 },
  };
  const text = await compile({ ...rest, title } as Schema, title, options);
  return text
    .replaceAll(/^ +\*\n +\* @minItems 1\n/gm, '')
    .replaceAll(/\/\*\*\n +\* (.*)\n +\*\//g, '/** $1 */')
    .replaceAll(
      /^( +)(\w+\??: )(.*\[\];$|\($)?/gm,
      (_, indent, name, array) => `${indent}readonly ${name}${array ? `readonly ${array}` : ''}`,
    );
}

function vmOf({ properties }: Schema): Schema {
  const vm = properties['observer']?.properties?.['vm'];
  if (vm === undefined) throw new Error('the schema has no observer.vm');
  return vm as Schema;
}

/** The same schema with a reference to the type `ObservedVm`. */
function withSharedVm(whole: Schema): Schema {
  const { description } = vmOf(whole);
  if (JSON.stringify(vmOf(whole)) !== JSON.stringify(vmOf(schema('change'))))
    throw new Error('the schemas differ in observer.vm');
  const { observer } = whole.properties;
  const properties = { ...observer?.properties, vm: { description, tsType: VM } };
  return { ...whole, properties: { ...whole.properties, observer: { ...observer, properties } } } as Schema;
}

/** Of the members that are required, with their JSON types. */
function shapeOf({ required, properties }: Schema): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(required.map((name) => [name, jsonTypes(properties[name] ?? {})]));
}

function jsonTypes({ type, enum: values = [] }: Member): readonly string[] {
  if (type !== undefined) return [type].flat().map((name) => (name === 'integer' ? 'number' : name));
  return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
}

function schema(kind: keyof typeof NAMES): Schema {
  return JSON.parse(readFileSync(join(ROOT, `docs/schemas/${kind}.v1.json`), 'utf8'));
}

if (import.meta.main) writeFileSync(SCHEMA_TYPES, await schemaTypes());
