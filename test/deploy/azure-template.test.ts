// deploy/azure → main.json is whole and closed, main.bicep is the same, cloud-init does as it says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { ADAPTERS } from '../../adapters/index.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { sha256Hex } from '../../src/formats/canonical-json.ts';
import { formatFault } from '../../src/schema/faults.ts';
import { expressionsOf } from '../docs/template-expressions.ts';
import { folderOf } from '../support/folder.ts';
import { CLOUD_INIT, CLOUD_INIT_FILE, MARKS, newMachine } from './cloud-init.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/azure');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const BICEP = read('main.bicep');
const { config, installer, command } = newMachine(
  'https://packages.example/bridge.deb?sig=a%2Fb&se=2027',
  sha256Hex('a package'),
);

const resource = v.looseObject({
  type: v.string(),
  apiVersion: v.string(),
  name: v.string(),
  dependsOn: v.optional(v.array(v.string()), []),
  properties: v.optional(v.looseObject({}), {}),
});
const described = v.looseObject({ type: v.string(), metadata: v.strictObject({ description: v.string() }) });
const template = v.parse(
  v.strictObject({
    $schema: v.string(),
    contentVersion: v.string(),
    metadata: v.strictObject({ description: v.string() }),
    parameters: v.record(v.string(), described),
    variables: v.record(v.string(), v.string()),
    resources: v.array(resource),
    outputs: v.record(v.string(), v.strictObject({ type: v.string(), value: v.string() })),
  }),
  JSON.parse(read('main.json')),
);
const { parameters, variables, resources } = template;
const expressions = expressionsOf(template);

/** What is set to a value and not to an expression, as `key: value`. */
function leavesOf(value: unknown, key = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => leavesOf(each, key));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, each]) =>
      /^(type|apiVersion|dependsOn)$/.test(name) && key === '' ? [] : leavesOf(each, name),
    );
  return String(value).startsWith('[') ? [] : [`${key}: ${value}`];
}

/** The properties of the one resource of that type whose name ends so. */
function propertiesOf(type: string): Readonly<Record<string, unknown>> {
  const [found, ...others] = resources.filter((each) => each.type === type);
  assert.equal(others.length, 0);
  return found?.properties ?? assert.fail(type);
}

test('expressions of main.json are balanced, and use each parameter and variable, and no other', () => {
  const named = (kind: string) =>
    new Set(expressions.flatMap(({ calls }) => calls).flatMap(({ name, args }) => (name === kind ? args : [])));
  const quoted = (of: object) => new Set(Object.keys(of).map((name) => `'${name}'`));
  assert.deepEqual([...named('parameters')].sort(), [...quoted(parameters)].sort());
  assert.deepEqual([...named('variables')].sort(), [...quoted(variables)].sort());
});

test('a resource depends on each resource that it names', () => {
  const typesOf = (texts: readonly string[]) =>
    new Set(texts.flatMap((text) => [...text.matchAll(/resourceId\('([\w./]+)'/g)].map(([, type = '']) => type)));
  const made = new Set(resources.map(({ type }) => type));
  for (const { dependsOn, ...each } of resources) {
    const waited = typesOf(dependsOn);
    const named = typesOf(expressionsOf(each).map(({ text }) => text));
    assert.deepEqual(
      [...named].filter((type) => made.has(type) && !waited.has(type)),
      [],
      each.type,
    );
  }
});

test('main.bicep has the same resources, parameters and outputs', () => {
  const inBicep = (pattern: RegExp) => [...BICEP.matchAll(pattern)].map(([, name = '']) => name);
  assert.deepEqual(
    inBicep(/^resource \w+ '([^']+)' = /gm),
    resources.map(({ type, apiVersion }) => `${type}@${apiVersion}`),
  );
  assert.deepEqual(inBicep(/^param (\w+) /gm), Object.keys(parameters));
  assert.deepEqual(inBicep(/^output (\w+) /gm), Object.keys(template.outputs));
  assert.deepEqual(
    inBicep(/^@description\('(.*)'\)$/gm),
    Object.values(parameters).map(({ metadata }) => metadata.description),
  );
  // A child's name is its parent's and its own in main.json.
  const pairs = [
    ...BICEP.replaceAll(/parent: \w+\n +name: .*/g, '').matchAll(/(\w+): \[?('[^'$]*'|\d+|true|false)(?=[\], \n])/g),
  ];
  assert.deepEqual(
    pairs.map(([, key, value = '']) => `${key}: ${value.replaceAll("'", '')}`).sort(),
    leavesOf(resources).sort(),
  );
});

test('the template has no password or key, allows no inbound traffic, and the topic drops duplicates', () => {
  assert.doesNotMatch(JSON.stringify(resources), /listKeys|adminPassword|authorizationRules|sharedAccess/i);
  for (const type of ['Microsoft.ServiceBus/namespaces', 'Microsoft.EventHub/namespaces'])
    assert.deepEqual(
      [propertiesOf(type)['disableLocalAuth'], propertiesOf(type)['minimumTlsVersion']],
      [true, '1.2'],
      type,
    );
  const rules = propertiesOf('Microsoft.Network/networkSecurityGroups')['securityRules'] as {
    properties: Record<string, unknown>;
  }[];
  assert.deepEqual(
    rules.map(({ properties: { direction, access, sourceAddressPrefix } }) => [direction, access, sourceAddressPrefix]),
    [['Inbound', 'Deny', '*']],
  );
  assert.equal(propertiesOf('Microsoft.ServiceBus/namespaces/topics')['requiresDuplicateDetection'], true);
  const machines = v.parse(
    v.object({ virtualMachineProfile: v.object({ scheduledEventsProfile: v.unknown() }) }),
    propertiesOf('Microsoft.Compute/virtualMachineScaleSets'),
  );
  assert.deepEqual(machines.virtualMachineProfile.scheduledEventsProfile, {
    // Azure refuses it for Spot.
    terminateNotificationProfile: {
      enable: "[equals(parameters('priority'), 'Regular')]",
      notBeforeTimeout: "[parameters('terminateNotice')]",
    },
    osImageNotificationProfile: { enable: true, notBeforeTimeout: 'PT15M' },
  });
});

test('a restart or redeploy that a user orders is announced, unless a parameter lets Azure approve it (protocol 10.1)', () => {
  const [set, ...others] = resources.filter(({ type }) => type === 'Microsoft.Compute/virtualMachineScaleSets');
  assert.equal(others.length, 0);
  // Microsoft's types have the property since 2024-03-01.
  assert.ok((set?.apiVersion ?? '') >= '2024-03-01', set?.apiVersion);
  assert.deepEqual(set?.properties['scheduledEventsPolicy'], {
    userInitiatedReboot: { automaticallyApprove: "[parameters('approveUserReboots')]" },
    userInitiatedRedeploy: { automaticallyApprove: "[parameters('approveUserRedeploys')]" },
  });
  for (const name of ['approveUserReboots', 'approveUserRedeploys']) {
    const { type, defaultValue } = parameters[name] ?? assert.fail(name);
    assert.deepEqual([type, defaultValue], ['bool', false], name);
    assert.match(BICEP, new RegExp(`^param ${name} bool = false$`, 'm'));
  }
  assert.match(
    BICEP.replaceAll(/\s+/g, ' '),
    /scheduledEventsPolicy: \{ userInitiatedReboot: \{ automaticallyApprove: approveUserReboots \} userInitiatedRedeploy: \{ automaticallyApprove: approveUserRedeploys \} \}/,
  );
});

test('main.json contains cloud-init.yaml, and replaces each of its placeholders', () => {
  assert.equal(variables['cloudInit'], CLOUD_INIT);
  const [customData] = expressions.filter(({ path }) => path.endsWith('osProfile.customData'));
  for (const text of [customData?.text ?? '', BICEP])
    assert.deepEqual(new Set(text.match(/__\w+__/g)), new Set(MARKS), 'marks');
});

test('the bridge.yaml of cloud-init is valid, and sends to the resources of the template', () => {
  assert.equal(config.path, '/etc/scheduled-events-bridge/bridge.yaml');
  const checked = readConfig(config.content, { adapters: ADAPTERS, env: {}, readFile: () => '', directory: '/etc' });
  assert.deepEqual('faults' in checked ? checked.faults.map(formatFault) : [], []);
  const names = resources.map(({ name }) => name).join();
  for (const name of ['/scheduled-events', '/approvals']) assert.ok(names.includes(`${name}'`), name);
});

test('the names of namespaces and topics have at most 50 characters, which Azure allows', () => {
  const { maxLength } = parameters['name'] as unknown as { maxLength: number };
  for (const variable of ['serviceBusName', 'eventHubsName', 'gridName']) {
    const [, between = ''] = /^\[format\('\{0\}(-\w+-)\{1\}'/.exec(variables[variable] ?? '') ?? [];
    // uniqueString has 13 characters.
    assert.ok(between !== '' && maxLength + between.length + 13 <= 50, variable);
  }
});

test('with the parameter eventGrid, a webhook sends to the topic with the identity of the machine', () => {
  const checkedWith = (grid: 'on' | 'off') => {
    const { config: file } = newMachine('https://packages.example/bridge.deb', sha256Hex('a package'), grid);
    const checked = readConfig(file.content, { adapters: ADAPTERS, env: {}, readFile: () => '', directory: '/etc' });
    assert.ok('options' in checked, 'faults' in checked ? checked.faults.map(formatFault).join('\n') : '');
    return checked.options.sinks;
  };
  assert.equal('grid' in checkedWith('off'), false);
  const options = checkedWith('on')['grid']?.options as { url: string; azure: object };
  assert.equal(
    options.url,
    'https://scheduled-events-grid-abc.westeurope-1.eventgrid.azure.net/api/events?api-version=2018-01-01',
  );
  const azure = { credential: 'managed-identity', clientId: '11111111-2222-3333-4444-555555555555' };
  assert.deepEqual(options.azure, { ...azure, scope: 'https://eventgrid.azure.net/.default' });
  assert.deepEqual(propertiesOf('Microsoft.EventGrid/topics'), {
    ...{ inputSchema: 'CloudEventSchemaV1_0', disableLocalAuth: true, minimumTlsVersionAllowed: '1.2' },
  });
  const conditional = resources.filter((each) => 'condition' in each);
  assert.deepEqual(
    conditional.map(({ type }) => type),
    ['Microsoft.EventGrid/topics', 'Microsoft.Authorization/roleAssignments'],
  );
  for (const each of conditional)
    assert.equal((each as { condition?: unknown }).condition, "[parameters('eventGrid')]");
});

/**
 * The installer with a curl that brings `body` after so many failures, and an apt-get that writes down what it is
 * asked.
 */
function install(t: TestContext, body: string, failures = 0) {
  const folder = folderOf(t);
  const [bin, tmp, log] = [join(folder, 'bin'), join(folder, 'tmp'), join(folder, 'log')];
  for (const each of [bin, tmp]) mkdirSync(each);
  const program = (name: string, lines: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  program(
    'curl',
    `echo curl "$@" >> ${log}\n[ "$(grep -c '^curl' ${log})" -gt ${failures} ] || exit 22\nprintf '%s' '${body}' > bridge.deb`,
  );
  program('sleep', `echo sleep "$@" >> ${log}`);
  program('apt-get', `echo apt-get "$@" >> ${log}\ncat bridge.deb >> ${log}`);
  const env = { PATH: `${bin}:${process.env['PATH']}`, TMPDIR: tmp };
  const { status } = spawnSync('/bin/sh', ['-s', '--', ...command.slice(1)], { env, input: installer.content });
  return { status, log: readFileSync(log, 'utf8'), left: readdirSync(tmp) };
}

test('a new machine installs the package with the given SHA-256, waits for another apt, and leaves no files', (t) => {
  assert.equal(installer.path, command[0]);
  const { status, log, left } = install(t, 'a package', 2);
  assert.equal(status, 0, log);
  assert.deepEqual(left, []);
  assert.deepEqual(log.match(/^(curl|sleep \d+|apt-get)/gm), ['curl', 'sleep 2', 'curl', 'sleep 4', 'curl', 'apt-get']);
  assert.match(log, /--proto =https .*https:\/\/packages\.example\/bridge\.deb\?sig=a%2Fb&se=2027\n/);
  assert.match(log, /--option DPkg::Lock::Timeout=300 \.\/bridge\.deb\na package$/);
});

test('a package with another SHA-256, or one that never arrives, is not installed', (t) => {
  for (const { status, log, left } of [install(t, 'another package'), install(t, 'a package', 100)]) {
    assert.notEqual(status, 0);
    assert.doesNotMatch(log, /apt-get/);
    assert.deepEqual(left, []);
  }
});

const noCloudInit = spawnSync('cloud-init', ['--version']).status === 0 ? false : 'cloud-init is not installed';

test('cloud-init accepts the file', { skip: process.env['REQUIRE_CLOUD_INIT'] ? false : noCloudInit }, () => {
  const { status, stdout, stderr } = spawnSync('cloud-init', ['schema', '--config-file', CLOUD_INIT_FILE], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});
