// A bill of materials, a registry, a list of allowed advisories → what the check says, how it ends.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { sbom, withDebianPackages } from '../../sbom.ts';
import { AdvisoryRegistry, type RegistryAdvisory } from '../far-sides/advisory-registry.ts';
import { folderOf } from '../support/folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const NEVER_OVER = '9999-12-31';

const advisory = (id: string, severity: RegistryAdvisory['severity'], range: string): RegistryAdvisory => ({
  ...{
    id: 1,
    title: `${id} in short`,
    severity,
    vulnerable_versions: range,
    cwe: [],
    cvss: { score: 0, vectorString: null },
  },
  url: `https://example.com/advisories/GHSA-${id}`,
});

/** What every registry of advisories reports: a weakness that was published years ago. */
const CANARY = { minimist: [advisory('xvch-5gv4-984h', 'critical', '<0.2.4')] };

interface Allowed {
  readonly advisory: string;
  readonly package: string;
  readonly reason: string;
  readonly until: string;
}

const allowedUntil = (until: string): Allowed => ({
  ...{ advisory: 'GHSA-aaaa-bbbb-cccc', package: 'alpha', until },
  reason: 'the bridge never calls the function that it is about',
});

/** Runs the check on these packages, by this registry. */
async function check(t: TestContext, registry: string, packages: readonly string[], allowed: unknown = []) {
  const folder = folderOf(t);
  const components = packages.map((each) => {
    const [, name = '', version = ''] = /^(.+)@([^@]+)$/.exec(each) ?? assert.fail(each);
    return { name, version, licence: 'MIT' };
  });
  const [bom, list] = [join(folder, 'sbom.json'), join(folder, 'allowed.json')];
  const whole = sbom(components, '1.2.3', { name: 'node', version: '24.0.0', licence: 'MIT' });
  writeFileSync(bom, withDebianPackages(whole, [{ name: 'libc6', version: '2.36-9', architecture: 'amd64' }]));
  writeFileSync(list, JSON.stringify(allowed));
  // npm's own configuration names the registry.
  const env = {
    ...process.env,
    npm_config_registry: registry,
    npm_config_cache: join(folder, 'cache'),
    npm_config_fetch_retries: '0',
  };
  return await new Promise<{ status: number; lines: readonly string[]; errors: string }>((resolve) => {
    execFile(process.execPath, ['advisories.ts', bom, list], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), lines: stdout.trimEnd().split('\n'), errors: stderr }),
    );
  });
}

async function registryWith(advisories: AdvisoryRegistry['advisories']): Promise<AdvisoryRegistry> {
  const registry = await AdvisoryRegistry.start();
  registry.advisories = { ...CANARY, ...advisories };
  return registry;
}

test('every version of the bundle is asked for, also two of one package; the Node and the packages of Debian that go along are not', async (t) => {
  await using registry = await registryWith({});
  const { status, lines, errors } = await check(t, registry.url, [
    'alpha@1.0.0',
    '@scope/beta@2.0.0',
    'alpha@3.0.0',
    'minimist@1.2.8',
  ]);
  assert.equal(status, 0, errors);
  assert.deepEqual(lines, ['advisories: 4 packages of the bundle were compared: nothing is known of them']);
  const asked = registry.asked.flatMap((each) =>
    Object.entries(each).flatMap(([name, versions]) => versions.map((one) => `${name}@${one}`)),
  );
  assert.deepEqual(asked.filter((each) => each !== 'minimist@0.0.8').sort(), [
    '@scope/beta@2.0.0',
    'alpha@1.0.0',
    'alpha@3.0.0',
    'minimist@1.2.8',
  ]);
});

for (const severity of ['high', 'critical'] as const) {
  test(`a ${severity} advisory ends the check with 1, and names package, version, advisory and range`, async (t) => {
    await using registry = await registryWith({ alpha: [advisory('aaaa-bbbb-cccc', severity, '<2.0.0')] });
    const { status, lines } = await check(t, registry.url, ['alpha@1.0.0', 'beta@1.0.0']);
    assert.equal(status, 1);
    assert.deepEqual(lines, [
      `alpha 1.0.0: ${severity}: aaaa-bbbb-cccc in short (GHSA-aaaa-bbbb-cccc, versions <2.0.0, https://example.com/advisories/GHSA-aaaa-bbbb-cccc)`,
      'advisories: 2 packages of the bundle were compared: 1 grave advisory, 0 others, 0 allowed',
    ]);
  });
}

test('of two versions only the affected one is named; an advisory for neither is ignored', async (t) => {
  await using registry = await registryWith({
    alpha: [advisory('aaaa-bbbb-cccc', 'high', '<2.0.0')],
    '@scope/beta': [advisory('dddd-eeee-ffff', 'critical', '<1.0.0')],
  });
  const { status, lines } = await check(t, registry.url, ['alpha@2.1.0', 'alpha@1.9.0', '@scope/beta@1.0.0']);
  assert.equal(status, 1);
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    ['alpha 1.9.0', 'advisories'],
  );
});

test('a lesser advisory is printed and fails nothing', async (t) => {
  await using registry = await registryWith({ alpha: [advisory('aaaa-bbbb-cccc', 'moderate', '*')] });
  const { status, lines } = await check(t, registry.url, ['alpha@1.0.0']);
  assert.equal(status, 0);
  assert.match(lines[0] ?? '', /^alpha 1\.0\.0: moderate: /);
  assert.match(lines[1] ?? '', /0 grave advisories, 1 other, 0 allowed$/);
});

test('what is allowed ends nothing until its date, and then it does', async (t) => {
  await using registry = await registryWith({ alpha: [advisory('aaaa-bbbb-cccc', 'critical', '*')] });
  const fine = await check(t, registry.url, ['alpha@1.0.0'], [allowedUntil(NEVER_OVER)]);
  assert.equal(fine.status, 0, fine.errors);
  assert.match(fine.lines.join('\n'), /allowed until 9999-12-31: the bridge never calls/);
  const over = await check(t, registry.url, ['alpha@1.0.0'], [allowedUntil('2026-01-31')]);
  assert.equal(over.status, 1);
  assert.match(over.lines.join('\n'), /was allowed until 2026-01-31/);
});

test('another advisory of an allowed package, and the same of another package, are not allowed', async (t) => {
  await using registry = await registryWith({
    alpha: [advisory('zzzz-zzzz-zzzz', 'critical', '*')],
    beta: [advisory('aaaa-bbbb-cccc', 'critical', '*')],
  });
  const { status, lines } = await check(t, registry.url, ['alpha@1.0.0', 'beta@1.0.0'], [allowedUntil(NEVER_OVER)]);
  assert.equal(status, 1);
  assert.match(lines.at(-1) ?? '', /2 grave advisories, 0 others, 0 allowed$/);
  assert.match(lines.join('\n'), /GHSA-aaaa-bbbb-cccc of alpha .* can be taken out/);
});

for (const [what, refusal] of [
  ['405, as a mirror answers', { status: 405, body: '' }],
  ['404', { status: 404, body: '{}' }],
  ['503', { status: 503, body: 'away' }],
  ['a page of a proxy', { status: 200, body: '<html>' }],
] as const) {
  test(`a registry that answers ${what} gives no advisories: one line says so, and the run continues`, async (t) => {
    await using registry = await registryWith({ alpha: [advisory('aaaa-bbbb-cccc', 'critical', '*')] });
    registry.refusal = refusal;
    const { status, lines, errors } = await check(t, registry.url, ['alpha@1.0.0']);
    assert.equal(status, 0, errors);
    assert.equal(lines.length, 1);
    assert.match(
      lines[0] ?? '',
      /^advisories: the registry gives none \(.*\): the 1 package of the bundle was not compared$/,
    );
    assert.doesNotMatch(lines.join() + errors, /127\.0\.0\.1/);
  });
}

test('a registry that is not there, or does not report a weakness of 2022, gives no advisories', async (t) => {
  await using registry = await AdvisoryRegistry.start();
  const { url } = registry;
  const silent = await check(t, url, ['alpha@1.0.0']);
  assert.deepEqual([silent.status, silent.lines.length], [0, 1]);
  assert.match(silent.lines[0] ?? '', /gives none \(it does not report minimist 0\.0\.8\)/);
  await registry[Symbol.asyncDispose]();
  const away = await check(t, url, ['alpha@1.0.0']);
  assert.deepEqual([away.status, away.lines.length], [0, 1]);
  assert.match(away.lines[0] ?? '', /gives none/);
});

for (const [what, allowed] of [
  ['without a date', [{ ...allowedUntil(NEVER_OVER), until: undefined }]],
  ['without a reason', [{ ...allowedUntil(NEVER_OVER), reason: '' }]],
  ['with a date that is none', [allowedUntil('next year')]],
  ['with a misspelt key', [{ ...allowedUntil(NEVER_OVER), untill: NEVER_OVER }]],
  ['that is no list', {}],
] as const) {
  test(`a list of allowed advisories ${what} ends the check with 1, for any answer of the registry`, async (t) => {
    await using registry = await AdvisoryRegistry.start();
    const { status, errors } = await check(t, registry.url, ['alpha@1.0.0'], allowed);
    assert.equal(status, 1);
    assert.match(errors, /allowed\.json/);
    assert.deepEqual(registry.asked, []);
  });
}

test('the list that is kept is readable, and .ci/run asks for the check', () => {
  assert.ok(Array.isArray(JSON.parse(readFileSync(join(ROOT, 'advisories.json'), 'utf8'))));
  assert.match(readFileSync(join(ROOT, '.ci/run'), 'utf8'), /npm run --silent advisories/);
});
