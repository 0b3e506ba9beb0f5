// The package as npm would publish it → what it holds: JavaScript, types, the command.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Project, packedPaths, ROOT } from './installed-package.ts';

test('the package holds the program, scenarios, page, templates, types and documentation, and nothing else', () => {
  const names = (folder: string, as: string) => readdirSync(join(ROOT, folder)).map((name) => `${as}/${name}`);
  const needed = [
    ...[
      'package.json',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'dist/main.js',
      'dist/simulator.js',
      'dist/types/simulator.d.ts',
    ],
    'dist/THIRD-PARTY-NOTICES',
    'dist/sbom.cdx.json',
    ...['dist/consumer.js', 'dist/types/consumer.d.ts', 'docs/receive/consumer.md'],
    ...names('src/simulator/scenarios', 'dist/scenarios'),
    ...names('src/page/parts', 'dist/parts'),
    ...names('src/http/console', 'dist/console'),
    ...names('src/simulator/page', 'dist/page'),
    ...names('adapters/webhook/template/templates', 'dist/templates'),
    'docs/simulate/testing-with-the-simulator.md',
  ];
  assert.deepEqual(
    needed.filter((path) => !packedPaths.includes(path)),
    [],
  );
  const known =
    /^(package\.json|[A-Z]+(\.md)?|docs\/.+|dist\/[\w-]+\.js|dist\/THIRD-PARTY-NOTICES|dist\/sbom\.cdx\.json|dist\/types\/[\w/-]+\.d\.ts|dist\/scenarios\/[\w-]+\.yaml|dist\/templates\/[\w-]+\.liquid|dist\/(console|page|parts)\/[\w-]+\.(html|css|js|svg))$/;
  assert.deepEqual(
    packedPaths.filter((path) => !known.test(path)),
    [],
  );
});

const USE = `
import { startSimulator, BridgeError, type EventOrder, type ListedEvent, type SimulatedAzure } from 'scheduled-events-bridge/simulator';

await using azure: SimulatedAzure = await startSimulator({ vms: 2, scenario: 'demo', strict: true });
const order: EventOrder = { EventType: 'Reboot', notice: '15m', Resources: ['sim_0'] };
const id: string = azure.schedule(order).EventId;
azure.fault({ status: 503, times: 3, headers: { 'Retry-After': 5 } });
const event: ListedEvent = await azure.until(() => azure.events().find(({ EventId }) => EventId === id));
const isThere: true = await azure.until(() => event.goneAt === null, { timeoutMs: 100 });
const when: Date = azure.now();
const urls: readonly { vm: string; url: string }[] = azure.urls;
export const all = [isThere, when, urls, azure.state().past[0]?.end === 'canceled', new BridgeError('BRIDGE_USAGE', 'x').code];
`;
const MISUSES = [
  'await startSimulator({ vm: 2 });',
  "await startSimulator({ speed: '60' });",
  "azure.schedule({ EventTyp: 'Reboot' });",
  "azure.schedule({ EventStatus: 'Completed' });",
  "azure.schedule({ DurationInSeconds: '9' });",
  'azure.start(7);',
  "azure.fault({ status: '503' });",
  "await azure.until('Started');",
  'azure.advance(15);',
  'const nobody: string = azure.events()[0].startedAt;',
  "azure.events()[0]!.EventStatus = 'Started';",
  "azure.state().past[0]?.end === 'over';",
];

for (const moduleResolution of ['nodenext', 'bundler'] as const) {
  test(`a user's TypeScript finds the types by ${moduleResolution}, without @types/node, and is told of each misuse`, async (t) => {
    const project = await Project.withPackage(t);
    project.write('use.ts', [USE, ...MISUSES.flatMap((misuse) => ['// @ts-expect-error', misuse])].join('\n'));
    assert.deepEqual(await project.types('use.ts', moduleResolution), {
      code: 0,
      signal: null,
      stdout: '',
      stderr: '',
    });
    project.write('misuse.ts', `${USE}\n${MISUSES[0]}\n`);
    const { code, stdout } = await project.types('misuse.ts', moduleResolution);
    assert.notEqual(code, 0);
    assert.match(stdout, /misuse\.ts.*'vm' does not exist in type 'StartOptions'/);
  });
}

const SESSION = `
const azure = await startSimulator({ scenario: 'demo' });
const url = azure.url + '/metadata/scheduledevents?api-version=2020-07-01';
const headers = { Metadata: 'true' };
const { Events } = await (await fetch(url, { headers })).json();
await fetch(url, { method: 'POST', headers, body: JSON.stringify({ StartRequests: [{ EventId: Events[0].EventId }] }) });
await azure.until(() => azure.approvals().length === 1);
azure.fault({ delay: '1h' });
const held = fetch(url, { headers }).catch(() => 'cut');
await azure.until(() => azure.requests().length === 3);
const page = (await fetch(azure.url + '/')).status;
await azure.close();
console.log(azure.events()[0].EventStatus, page, await held);
`;

test("a user's module runs without the dependencies, and its process ends by itself once all is closed", async (t) => {
  const project = await Project.withPackage(t);
  project.write('use.js', `import { startSimulator } from 'scheduled-events-bridge/simulator';\n${SESSION}`);
  assert.deepEqual(await project.node('use.js'), { code: 0, signal: null, stdout: 'Started 200 cut\n', stderr: '' });
});

test("a user's CommonJS module can require it", async (t) => {
  const project = await Project.withPackage(t);
  project.write(
    'use.cjs',
    `const { startSimulator } = require('scheduled-events-bridge/simulator');\n(async () => {${SESSION}})();`,
  );
  assert.deepEqual(await project.node('use.cjs'), { code: 0, signal: null, stdout: 'Started 200 cut\n', stderr: '' });
});

test('the command of an installed package runs, and knows the scenarios', async (t) => {
  const project = await Project.withPackage(t);
  const { code, stdout } = await project.run('node_modules/.bin/scheduled-events-bridge', ['simulate', '--list']);
  assert.deepEqual(
    [code, stdout.split('\n').length - 1],
    [0, readdirSync(join(ROOT, 'src/simulator/scenarios')).length],
  );
});

test('nothing else of the package can be imported', async (t) => {
  const project = await Project.withPackage(t);
  for (const path of ['', '/dist/main.js', '/simulator.js']) {
    project.write('use.js', `import 'scheduled-events-bridge${path}';`);
    const { code, stderr } = await project.node('use.js');
    assert.equal(code, 1);
    assert.match(stderr, /ERR_PACKAGE_PATH_NOT_EXPORTED/);
  }
  project.write(
    'use.js',
    "import about from 'scheduled-events-bridge/package.json' with { type: 'json' }; console.log(about.name);",
  );
  assert.equal((await project.node('use.js')).stdout, 'scheduled-events-bridge\n');
});
