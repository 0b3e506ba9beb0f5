// deploy/packages/reference-config.ts: the bridge.yaml of a fresh installation, also unfolded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADAPTERS } from '../../adapters/index.ts';
import { referenceConfig, WINDOWS } from '../../deploy/packages/reference-config.ts';
import { jsonSchema } from '../../src/config/json-schema.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { parseYaml } from '../../src/schema/yaml.ts';

const schema = jsonSchema(ADAPTERS) as Parameters<typeof referenceConfig>[0];
const text = referenceConfig(schema);
/** All settings, none of them a comment any more. */
const unfolded = text.replaceAll(/^( *)#(?! )/gm, '$1');

type Node = typeof schema;

/** Every key that a schema names, the two of a secret's reference aside. */
function keysOf(node: Node): readonly string[] {
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = node;
  const below = [
    ...Object.values(properties),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  const all = [...below, ...(items ? [items] : []), ...anyOf, ...oneOf];
  return [...Object.keys(properties).filter((key) => key !== 'env' && key !== 'file'), ...all.flatMap(keysOf)];
}

test('the unedited file is valid: one sink that works everywhere, and the store of the service', () => {
  const checked = readConfig(text, {
    adapters: ADAPTERS,
    env: {},
    readFile: () => '',
    directory: '/etc/scheduled-events-bridge',
  });
  if ('faults' in checked) assert.fail(JSON.stringify(checked.faults));
  assert.equal(checked.options.store.path, '/var/lib/scheduled-events-bridge');
  assert.deepEqual(
    Object.entries(checked.options.sinks).map(([name, { type }]) => [name, type]),
    [['journal', 'stdout']],
  );
});

test('its head has the line of each section, and the command for a reload', () => {
  const lines = text.split('\n');
  const index = lines.find((line) => line.startsWith('# Sections'));
  const places = [...(index ?? '').matchAll(/(\w+) (\d+)/g)].map(
    ([, name = '', line]) => [name, lines[Number(line) - 1]] as const,
  );
  const sections = Object.keys(schema.properties ?? {}).filter((name) => name !== 'version');
  assert.deepEqual(
    places.map(([name]) => name),
    sections,
  );
  for (const [name, line] of places) assert.match(line ?? '', new RegExp(`^#?${name}:`));
  assert.match(lines[1] ?? '', new RegExp(`under "sinks:", line ${lines.indexOf('sinks:') + 1}`));
  const commands = ['systemctl reload scheduled-events-bridge', 'systemctl restart scheduled-events-bridge'];
  for (const command of commands)
    assert.ok(
      lines.slice(0, 12).some((line) => line.endsWith(command)),
      command,
    );
  assert.match(
    referenceConfig(schema, WINDOWS),
    /\n# +scheduled-events-bridge-service\.exe reload\n.*Restart-Service scheduled-events-bridge\n/,
  );
  assert.ok(lines.slice(0, 12).every((line) => line.length <= 140));
});

test('it contains every key of the configuration, for every type of sink and source', () => {
  const there = new Set([...text.matchAll(/^ *#?(?:- )?([A-Za-z]\w*):/gm)].map(([, key]) => key));
  const keys = new Set(keysOf(schema));
  assert.ok(keys.size > 80, `${keys.size} keys`);
  assert.deepEqual(
    [...keys].filter((key) => !there.has(key)),
    [],
  );
  for (const { type } of ADAPTERS) assert.match(text, new RegExp(`^ +#?type: "?${type}"?$`, 'm'), type);
});

test('without the comment signs it is one YAML mapping, and each section has its keys', () => {
  const { value, faults } = parseYaml(unfolded, 'configuration');
  assert.deepEqual(faults, []);
  assert.deepEqual(Object.keys(value as object), Object.keys(schema.properties ?? {}));
  const sinks = Object.keys((value as { sinks: object }).sinks);
  assert.deepEqual(sinks, ['journal', ...ADAPTERS.map(({ type }) => `my-${type}`)]);
});
