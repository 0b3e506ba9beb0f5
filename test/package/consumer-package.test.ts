// The consumer library's package → it runs on each Node that it names, and has its types.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before, type TestContext } from 'node:test';
import { startSimulator } from '../../src/simulator.ts';
import { freePorts } from '../far-sides/simulator-server.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { start } from '../support/program.ts';
import { bridgeFolder, hook, startRun } from '../support/running-bridge.ts';
import { nodes, typescript, typescript5 } from './node-versions.ts';
import { consumerPackage } from './npm-packages.ts';

const NAME = 'scheduled-events-bridge-consumer';
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

let tarball = '';
before(async () => {
  tarball = await consumerPackage();
});

/** A project with the package and nothing else; returns its folder. */
function project(t: TestContext): string {
  const folder = folderOf(t);
  const home = join(folder, 'node_modules', NAME);
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', home]);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
}

test('it is one module of at most 60 KB that imports Node alone, with types, examples and a page', (t) => {
  const home = join(project(t), 'node_modules', NAME);
  const text = readFileSync(join(home, 'index.js'), 'utf8');
  assert.ok(text.length < 60_000, `${text.length} bytes`);
  const imports = [...text.matchAll(/(?:\bfrom|\bimport\()"([^"]+)"/g)].map(([, name = '']) => name);
  assert.ok(imports.includes('node:crypto'));
  assert.deepEqual(
    imports.filter((name) => !name.startsWith('node:')),
    [],
  );
  for (const path of ['README.md', 'CHANGELOG.md', 'LICENSE', 'types/consumer.d.ts', 'examples/webhook.js'])
    assert.ok(readFileSync(join(home, path), 'utf8').length > 0, path);
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  assert.deepEqual([manifest.name, manifest.engines, manifest.dependencies], [NAME, { node: '>=22' }, undefined]);
});

const USE = `
import { createReceiver, type EventOf, isChange, parseKafkaMessage, preparation, stream } from '${NAME}';
const receiver = createReceiver({ secrets: 'x', handlers: { onEnded: ({ data }) => data.outcome } });
const event = parseKafkaMessage({ value: null });
if (isChange(event, 'scheduled')) { const scheduled: EventOf<'scheduled'> = event; scheduled.data.resources.length satisfies number; }
export default [receiver, preparation, stream];
`;
const RESOLUTIONS = [
  ['node10', 'commonjs', typescript5],
  ['node10', 'esnext', typescript5],
  ['node16', 'node16', typescript],
  ['nodenext', 'nodenext', typescript],
  ['bundler', 'esnext', typescript],
] as const;

for (const [moduleResolution, module, compiler] of RESOLUTIONS) {
  const { skip } = compiler;
  test(`its types are found by moduleResolution ${moduleResolution} with module ${module}`, { skip }, (t) => {
    const folder = project(t);
    const check = (text: string) => {
      writeFileSync(join(folder, 'use.ts'), text);
      const compilerOptions = {
        ...{ moduleResolution, module, target: 'es2022', lib: ['es2022'], types: [], strict: true, noEmit: true },
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
      try {
        return execFileSync(process.execPath, [compiler.path, '-p', folder], { encoding: 'utf8' });
      } catch (error) {
        return (error as { stdout: string }).stdout;
      }
    };
    assert.equal(check(USE), '');
    assert.match(check(`${USE}\ncreateReceiver({ secret: 'x' });`), /'secret' does not exist/);
  });
}

for (const { name, path, skip } of nodes) {
  test(`on ${name} its example verifies a bridge's webhooks, prepares once and recovers once`, { skip }, async (t) => {
    const folder = project(t);
    const home = join(folder, 'node_modules', NAME, 'examples');
    const port = String(await freePorts());
    const consumer = start(t, [], {
      node: path,
      main: join(home, 'webhook.js'),
      cwd: folder,
      env: { HOOK_SECRET: SECRET, PORT: port, BRIDGE: '127.0.0.1' },
    });
    await poll(
      () => consumer.stdout.includes('listening'),
      () => consumer.stderr,
    );
    await using azure = await startSimulator();
    const sinks = { hooks: hook(`http://127.0.0.1:${port}/`, { secrets: [{ env: 'HOOK_SECRET' }] }) };
    const bridge = await startRun(t, bridgeFolder(t, azure.url, { sinks }), { env: { HOOK_SECRET: SECRET } });
    const { EventId } = azure.schedule({ EventType: 'Reboot' });
    await poll(
      () => consumer.stdout.includes('prepare: Reboot'),
      () => `${consumer.stderr}${bridge.stderr}`,
    );
    azure.start(EventId);
    azure.end(EventId);
    await poll(
      () => consumer.stdout.includes('recover: Reboot is over'),
      () => consumer.stderr,
    );
    assert.equal(consumer.stdout.match(/prepare:/g)?.length, 1);
    await bridge.end('SIGTERM');
  });

  test(`on ${name} a CommonJS module can require it`, { skip }, (t) => {
    const folder = project(t);
    writeFileSync(join(folder, 'use.cjs'), `console.log(typeof require('${NAME}').createReceiver);`);
    const printed = execFileSync(path, ['--no-warnings', 'use.cjs'], { cwd: folder, encoding: 'utf8' });
    assert.equal(printed, 'function\n');
  });
}
