// deploy/windows: what its scripts, its service program and its configuration say, without Windows.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { test } from 'node:test';
import { ADAPTERS } from '../../adapters/index.ts';
import { PINNED_NODE } from '../../deploy/packages/pinned-node.ts';
import { referenceConfig, WINDOWS } from '../../deploy/packages/reference-config.ts';
import { goCommand, withGoParts } from '../../deploy/windows/service-program.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { sbom } from '../../sbom.ts';
import { jsonSchema } from '../../src/config/json-schema.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { parseYaml } from '../../src/schema/yaml.ts';
import { runVerb } from '../../src/verbs/run.ts';
import { EXIT } from '../../src/verbs/verb.ts';

const HERE = join(import.meta.dirname, '../../deploy/windows');
const text = (name: string) => readFileSync(join(HERE, name), 'utf8');
const SCRIPTS = ['install.ps1', 'uninstall.ps1', 'scheduled-events-bridge.cmd'];
const DATA = 'C:\\ProgramData\\scheduled-events-bridge';

test('Node for other platforms has the version that the checkout pins', () => {
  assert.equal(PINNED_NODE.version, packageJson.devDependencies.node);
});

test('the configuration of a fresh installation is valid: a file sink that rotates, paths of Windows', () => {
  const config = referenceConfig(jsonSchema(ADAPTERS) as Parameters<typeof referenceConfig>[0], WINDOWS);
  const { value, faults } = parseYaml(config.replaceAll('\n', '\r\n'), 'configuration');
  assert.deepEqual(faults, []);
  assert.deepEqual(value, {
    version: 1,
    store: { path: win32.join(DATA, 'state') },
    sinks: {
      events: { type: 'file', path: win32.join(DATA, 'log', 'events.ndjson'), rotate: { size: '10MiB', keep: 7 } },
    },
  });
  const checked = readConfig(config, { adapters: ADAPTERS, env: {}, readFile: () => '', directory: DATA });
  if ('faults' in checked) assert.fail(JSON.stringify(checked.faults));
  assert.doesNotMatch(config, /systemctl|journalctl|LoadCredential/);
});

test('scripts are plain ASCII, because Windows PowerShell misreads UTF-8', () => {
  for (const name of SCRIPTS) assert.match(text(name), /^[\t\n\x20-\x7e]*$/, name);
});

test('both scripts stop at the first failure and require an administrator', () => {
  for (const name of ['install.ps1', 'uninstall.ps1']) {
    assert.match(text(name), /^#Requires -RunAsAdministrator$/m);
    assert.match(text(name), /^Set-StrictMode -Version 3\.0\n\$ErrorActionPreference = 'Stop'$/m);
  }
});

test('the scripts check the exit code of every program', () => {
  const calls = ['install.ps1', 'uninstall.ps1'].flatMap((name) => [...text(name).matchAll(/^\s*& (.*)\n(.*)$/gm)]);
  assert.equal(calls.length, 3);
  for (const [, line = '', next = ''] of calls)
    if (!line.includes(' check ')) assert.match(next, /\$LASTEXITCODE -ne 0\) \{ throw/, line);
});

test('only SYSTEM, administrators and the service can access the state; the service may write only to store and log', () => {
  const script = text('install.ps1');
  assert.match(script, /'\/inheritance:r', '\/grant:r'/);
  const granted = [...script.matchAll(/^Set-Rights "?\$data(?:\\(\w+))?"? '(\w+)'$/gm)];
  assert.deepEqual(
    granted.map(([, folder = '', right = '']) => [folder, right]),
    [
      ['', 'RX'],
      ['secrets', 'RX'],
      ['state', 'M'],
      ['log', 'M'],
    ],
  );
  assert.match(
    script,
    /New-Item -ItemType Directory -Path \$data\n +Set-Rights \$data\n\}/,
    'a new folder is closed at once',
  );
  assert.doesNotMatch(script, /Users|Everyone|S-1-1-0|S-1-5-32-545|New-NetFirewallRule/);
});

test('an existing configuration is kept, and only -Purge deletes the state', () => {
  assert.match(text('install.ps1'), /if \(-not \(Test-Path \$config\)\) \{\n[^}]*WriteAllText\(\$config/);
  assert.deepEqual(text('uninstall.ps1').match(/^.*Remove-Item \$data.*$/gm), [
    'if ($Purge -and (Test-Path $data)) { Remove-Item $data -Recurse -Force }',
  ]);
});

test('the service program uses the options, the exit code and the folders of the bridge', () => {
  const source = readdirSync(join(HERE, 'service'))
    .filter((name) => name.endsWith('.go'))
    .map((name) => text(join('service', name)))
    .join('');
  const options = [...source.matchAll(/"--(config|control-stdin)"/g)].map(([, name = '']) => name);
  assert.deepEqual(options, ['config', 'control-stdin']);
  for (const name of options) assert.ok(name in runVerb.options, name);
  assert.match(source, new RegExp(`exitConfig +(?:uint32 )?= ${EXIT.config}\\n`));
});

test('the launcher and the service program start Node with the flags of the Linux launcher', () => {
  const flags = /--no-opt --no-maglev --max-semi-space-size=1/;
  assert.match(readFileSync(join(HERE, '../packages/scheduled-events-bridge'), 'utf8'), flags);
  assert.match(text('scheduled-events-bridge.cmd'), flags);
  assert.match(text('service/program.go').replaceAll('", "', ' '), flags);
});

test('without Go the build fails at once with a remedy', async () => {
  await assert.rejects(goCommand('/nowhere/go'), /install Go 1\.24 or newer, name one in GO, or .*--without-windows/);
});

test('the bill of materials has the Go code and the packages of npm', () => {
  const bom = JSON.parse(
    withGoParts(sbom([{ name: 'rxjs', version: '7.8.2', licence: 'Apache-2.0' }], '1.2.3'), [
      { name: 'std', version: '1.26.8' },
    ]),
  );
  assert.deepEqual(
    bom.components.map(({ purl }: { purl: string }) => purl),
    ['pkg:npm/rxjs@7.8.2', 'pkg:golang/std@1.26.8'],
  );
  assert.deepEqual(bom.dependencies[0].dependsOn, ['pkg:npm/rxjs@7.8.2', 'pkg:golang/std@1.26.8']);
  assert.deepEqual(bom.dependencies.at(-1), { ref: 'pkg:golang/std@1.26.8' });
});
