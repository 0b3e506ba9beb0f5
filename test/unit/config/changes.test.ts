// Two configurations → the paths that differ, and what needs a restart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configChanges, needsRestart, touches } from '../../../src/config/changes.ts';
import type { ValidConfig } from '../../../src/config/check-config.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { OTHER_TOKEN, surroundings, TOKEN } from '../../support/config.ts';

const ENV = { TOKEN, OTHER_TOKEN, SECRET: 'one' };

/** `text` without its `version`. */
function valid(text: string, env: Record<string, string> = ENV, files: Record<string, string> = {}): ValidConfig {
  const read = readConfig(`version: 1\n${text}`, surroundings(env, files));
  assert.ok(!('faults' in read), JSON.stringify(read));
  return read;
}

function changes(before: string, after: string): readonly string[] {
  return configChanges(valid(before).written, valid(after).written);
}

test('the same settings in another YAML style, in another order or with comments are not a change', () => {
  const one = 'metadata: { pollInterval: 2s, settle: 1m }\nsinks:\n  audit: { type: stdout }\n';
  const other =
    '# new\nsinks: { audit: { "type": "stdout" } }\nmetadata:\n  settle: 1m # a minute\n  pollInterval: 2s\n';
  assert.deepEqual(changes(one, other), []);
});

test('a change has the path of the key that differs; a list of rules is one change', () => {
  const before = `
sinks: { hooks: { type: webhook, url: "https://a.example/", retry: { maxAge: 1h }, filter: { impacts: [Reboot] } } }
approvals: { policy: [ { when: { impacts: [Freeze] }, then: approve } ] }
publish: { resources: all }`;
  const after = `
sinks: { hooks: { type: webhook, url: "https://b.example/", retry: { maxAge: 2h }, filter: { impacts: [Reboot, Freeze] } } }
approvals: { policy: [ { when: { impacts: [Freeze] }, then: wait } ] }
publish: { resources: own }`;
  assert.deepEqual(changes(before, after), [
    'sinks.hooks.url',
    'sinks.hooks.retry.maxAge',
    'sinks.hooks.filter.impacts',
    'approvals.policy',
    'publish.resources',
  ]);
});

test('windows and budgets are compared one by one, also with a file that has none', () => {
  const text = (nights: string, atMost: number) => `
approvals:
  windows: { nights: { days: [Mon], to: "${nights}" }, days: { days: [Tue] } }
  budgets: { databases: { resources: ["db_*"], atMost: ${atMost} } }
  policy: [{ when: {}, then: approve, during: [nights, days], budgets: [databases] }]`;
  assert.deepEqual(changes(text('05:00', 1), text('06:00', 2)), [
    'approvals.windows.nights.to',
    'approvals.budgets.databases.atMost',
  ]);
  assert.deepEqual(changes('', text('05:00', 1)), [
    'approvals.windows.nights',
    'approvals.windows.days',
    'approvals.budgets.databases',
    'approvals.policy',
  ]);
});

test('an added or removed entry is reported as a whole, even if its section was absent', () => {
  const orders = 'approvals: { approvers: { orders: { token: { env: TOKEN } } } }';
  const stdout = 'sinks: { stdout: { type: stdout } }';
  assert.deepEqual(changes('', orders), ['approvals.approvers.orders']);
  assert.deepEqual(
    changes(orders, stdout),
    ['approvals.approvers.orders'],
    'the sink of a file without sinks is the same',
  );
  assert.deepEqual(changes('', 'sinks: { hooks: { type: webhook, url: "https://a.example/" } }'), [
    'sinks.stdout',
    'sinks.hooks',
  ]);
  assert.deepEqual(changes('', 'http: { readers: { grafana: { token: { env: TOKEN } } } }'), ['http.readers.grafana']);
});

test('a secret with a new value is a change of its key, and no value is kept', () => {
  const text = 'sinks: { hooks: { type: webhook, url: "https://a.example/", secrets: [{ env: SECRET }] } }';
  const token = 'approvals: { approvers: { orders: { token: { file: token } } } }';
  const [one, other] = [valid(text), valid(text, { ...ENV, SECRET: 'two' })];
  assert.deepEqual(configChanges(one.written, other.written), ['sinks.hooks.secrets']);
  const files = (content: string) => valid(token, ENV, { '/etc/bridge/token': content });
  assert.deepEqual(configChanges(files(TOKEN).written, files(OTHER_TOKEN).written), [
    'approvals.approvers.orders.token',
  ]);
  assert.ok(!JSON.stringify(files(TOKEN).written).includes(TOKEN));
});

test('all settings that need a restart are reported at once, by their keys', () => {
  const before = valid('').options;
  const after = valid(
    `metadata: { endpoint: "http://10.0.0.1", apiVersion: newest, pollInterval: 2s }
cloudevents: { source: "urn:mine", observer: [zone], typePrefix: com.example }
store: { path: /srv/bridge }
http: { listen: "127.0.0.1:1", health: "127.0.0.1:2" }`,
  ).options;
  assert.deepEqual(needsRestart(before, after), [
    'metadata.endpoint',
    'metadata.apiVersion',
    'cloudevents.source',
    'cloudevents.observer',
    'store',
    'http.listen',
    'http.health',
  ]);
});

test('a default that is written into the file needs no restart, nor does a setting that can change at run time', () => {
  const before = valid('').options;
  const after = valid(
    `metadata: { endpoint: "http://169.254.169.254", apiVersion: "2020-07-01", pollInterval: 2s, timeout: 1s, settle: 1m }
cloudevents: { typePrefix: com.example }
store: { retain: 30d }
http: { listen: "127.0.0.1:8700", readers: { grafana: { token: { env: TOKEN } } } }
approvals: { approvers: { orders: { token: { env: OTHER_TOKEN } } } }`,
  ).options;
  assert.deepEqual(needsRestart(before, after), []);
});

test('a path is touched by itself, by paths inside it and around it, but not by a path with a similar name', () => {
  assert.ok(touches(['sinks.hooks.url'], 'sinks.hooks'));
  assert.ok(touches(['sinks.hooks'], 'sinks.hooks'));
  assert.ok(touches(['sinks.hooks'], 'sinks.hooks.filter'));
  assert.ok(!touches(['sinks.hooks2.url', 'sinks.hook'], 'sinks.hooks'));
});
