// Answers of any kind → a configuration that `check` accepts, with these answers and nothing else.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ADAPTERS } from '../../../../adapters/index.ts';
import { readConfigFully } from '../../../../src/config/read-config.ts';
import { parseYaml } from '../../../../src/schema/yaml.ts';
import { configText, type TextParts } from '../../../../src/verbs/init/config-text.ts';
import { type SinkEntry, sinkEntry } from '../../../../src/verbs/init/sink-forms.ts';

const TYPES = ADAPTERS.map(({ type }) => type);
const TOKEN = 'a-token-of-at-least-32-characters-0123';

const host = fc.constantFrom(
  'example.com',
  '127.0.0.1',
  'localhost',
  '10.1.2.3',
  '[::1]',
  '[fd00::7]',
  'hooks.internal',
);
const port = fc.integer({ min: 1, max: 65_535 });
const url = fc
  .tuple(fc.constantFrom('http', 'https'), host, port, fc.webPath(), fc.webQueryParameters())
  .map(([scheme, name, number, path, query]) => `${scheme}://${name}:${number}${path}?${query}`);
const RESERVED = ['__proto__', 'constructor', 'prototype'];
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).filter((each) => !RESERVED.includes(each));
const path = fc
  .string({ minLength: 1, unit: 'grapheme' })
  .filter((text) => !/\0|\/$/.test(text) && text.isWellFormed());
const topic = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);

/** A valid value for each form. */
const sink = fc.oneof(
  path.map((file) => `file=${file}`),
  url.map((target) => `webhook=${target}`),
  url.map((target) => `otlp=${target}`),
  url.map((target) => `elasticsearch=${target}`),
  fc
    .tuple(fc.uniqueArray(port, { minLength: 1, maxLength: 3 }), topic)
    .map(([ports, to]) => `kafka=${ports.map((number) => `b.example.com:${number}`).join(',')}/${to}`),
  topic.map((to) => `service-bus=my-ns/${to}`),
  name.map((program) => `command=${program}`),
  fc
    .tuple(fc.constantFrom('tls', 'tcp', 'udp'), port)
    .map(([by, number]) => `syslog=${by}://logs.example.com:${number}`),
  fc
    .subarray(['event', 'condition', 'taint', 'cordon', 'drain'], { minLength: 1 })
    .map((steps) => `kubernetes=${steps}`),
);

const parts: fc.Arbitrary<TextParts> = fc.record({
  machine: fc.string({ unit: 'binary' }),
  file: fc.string({ unit: 'binary' }),
  endpoint: fc.option(port.map((number) => `http://127.0.0.1:${number}`)),
  listen: fc.option(
    fc.oneof(
      port.map((number) => `127.0.0.1:${number}`),
      port.map((number) => `[::1]:${number}`),
    ),
  ),
  store: fc.option(path.map((folder) => `/var/lib/${folder}`)),
  console: fc.boolean(),
  // One of a kind, because two sinks must not write one file.
  sinks: fc
    .uniqueArray(sink, { minLength: 1, maxLength: 5, selector: (text) => text.split('=')[0] })
    .map((texts) => texts.map((text) => sinkEntry(text, TYPES, (each) => each) as SinkEntry)),
  approvers: fc.uniqueArray(name, { maxLength: 3 }),
});

test('whatever is answered, check accepts the configuration, and it says what was answered', async () => {
  await fc.assert(
    fc.asyncProperty(parts, async (given) => {
      const text = configText(given);
      const checked = await readConfigFully(text, {
        adapters: ADAPTERS,
        env: { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' },
        directory: '/etc/bridge',
        readFile: (file) => `${TOKEN}${file}`.replaceAll(/[^\x21-\x7e]/g, ''),
      });
      assert.deepEqual('faults' in checked ? checked.faults : [], [], text);
      const { sinks, approvals = {} } = parseYaml(text, 'configuration').value as {
        sinks: object;
        approvals?: { approvers?: object };
      };
      assert.deepEqual(Object.values(sinks), given.sinks);
      assert.deepEqual(Object.keys(approvals.approvers ?? {}).sort(), given.approvers.toSorted());
    }),
    { numRuns: 100 },
  );
});

test('no text of the machine leaves its comment', () => {
  const text = configText({
    ...{ machine: 'the VM web_0\nsinks: {}\u2028evil: 1', file: 'a\rb', endpoint: null, listen: null, store: null },
    ...{ console: false, sinks: [{ type: 'stdout' }], approvers: [] },
  });
  const { value, faults } = parseYaml(text, 'configuration');
  assert.deepEqual([Object.keys(value as object), faults], [['version', 'metadata', 'http', 'sinks'], []]);
});
