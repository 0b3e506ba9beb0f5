// The .zip on Windows as Wine 10 plays it → one life of the service (behaviour 12).
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { BUILD_VERSION } from '../support/build-version.ts';
import { poll } from '../support/poll.ts';
import { HOOK } from './installed-service.ts';
import { CONFIG, DATA, PROGRAM, SERVICE, WindowsInstallation } from './windows-installation.ts';
import { noWine, type WineMachine } from './wine-machine.ts';

const options = { skip: noWine, timeout: 300_000 };
const [LOG, EVENTS] = [`${DATA}/log/service.log`, `${DATA}/log/events.ndjson`];
const RECEIVER = `require('node:http').createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => { body += text; }).on('end', () => {
    require('node:fs').appendFileSync(process.argv[1], body + '\\n');
    response.writeHead(204).end();
  });
}).listen(9000, '127.0.0.1');`;

let installation: WindowsInstallation;
let machine: WineMachine;
let received = '';
let receiver: ChildProcess;
before(async () => {
  if (noWine) return;
  installation = await WindowsInstallation.make();
  machine = installation.machine;
  received = join(installation.work, 'received');
  listen();
});
after(() => {
  if (noWine) return;
  installation[Symbol.dispose]();
});

function listen(): void {
  receiver = machine.beside(process.execPath, '--eval', RECEIVER, received);
}

const service = (verb: string) => installation.service(verb);
const log = () => machine.read(LOG);
const told = (what: string, more = 1) => {
  const before = log().split(what).length - 1;
  return () =>
    poll(
      () => log().split(what).length - 1 >= before + more,
      () => `${what}: ${log()}`,
      60_000,
    );
};

async function start(): Promise<void> {
  const watching = told('"msg":"watching"');
  machine.run('sc', 'start', SERVICE);
  await watching();
}

const stopped = () => installation.stopped();

/** Schedules a reboot; with its EventId in lower case. */
const schedule = () => installation.schedule().toLowerCase();

/** Resolves once the file of the fresh configuration has the event. */
async function inFile(eventId: string): Promise<void> {
  await poll(() => machine.read(EVENTS).includes(`"id":"${eventId}:scheduled"`), log, 60_000);
}

async function atReceiver(eventId: string): Promise<void> {
  const text = () => (existsSync(received) ? readFileSync(received, 'utf8') : '');
  await poll(() => text().includes(`"id":"${eventId}:scheduled"`), log, 60_000);
}

test('unpacked, its command runs, and the fresh configuration is valid', options, () => {
  const launcher = `C:\\Program Files\\${SERVICE}\\${SERVICE}.cmd`;
  assert.equal(machine.run('cmd', '/c', launcher, '--version').trim(), BUILD_VERSION);
  assert.match(
    machine.run('cmd', '/c', launcher, 'check', '--config', `C:\\ProgramData\\${SERVICE}\\bridge.yaml`),
    /is valid/,
  );
  const { status, said } = machine.try('cmd', '/c', launcher, 'nonsense');
  assert.equal(status, 2, said);
});

test('the library keeps its state of preparations in a file', options, () => {
  const library = `file:///C:/Program%20Files/${SERVICE}/dist/consumer.js`;
  const prepared = "{ eventId: 'E', isReady: true, isAgain: false }";
  const script = `import { fileState } from '${library}';
await fileState('C:\\\\prepared.json').set('a', ${prepared});
await fileState('C:\\\\prepared.json').set('b', ${prepared});
console.log((await fileState('C:\\\\prepared.json').all()).length);`;
  machine.write('state.mjs', script);
  assert.equal(machine.run(`C:\\Program Files\\${SERVICE}\\node.exe`, 'C:\\state.mjs').trim(), '2');
});

test(
  'once registered, Windows starts it late, under a dedicated account, with a source in the event log',
  options,
  () => {
    service('register');
    const entry = machine.run('reg', 'query', `HKLM\\System\\CurrentControlSet\\Services\\${SERVICE}`);
    for (const value of [
      new RegExp(`ImagePath +REG_SZ +"C:\\\\Program Files\\\\${SERVICE}\\\\${SERVICE}-service\\.exe" service`),
      new RegExp(`ObjectName +REG_SZ +NT SERVICE\\\\${SERVICE}\\r?\\n`),
      ...[/Start +REG_DWORD +0x2/, /DelayedAutoStart +REG_DWORD +0x1/, /PreshutdownTimeout +REG_DWORD +0x4e20/],
    ])
      assert.match(entry, value);
    assert.match(
      machine.run('reg', 'query', `HKLM\\System\\CurrentControlSet\\Services\\EventLog\\Application\\${SERVICE}`),
      /EventMessageFile +REG_EXPAND_SZ +%SystemRoot%\\System32\\EventCreate\.exe/,
    );
  },
);

test('started, it polls, stores and delivers to a file and a webhook', options, async () => {
  machine.append(CONFIG, HOOK);
  await start();
  const eventId = schedule();
  await inFile(eventId);
  await atReceiver(eventId);
  assert.match(machine.curl('http://127.0.0.1:8700/readyz'), /"ready":true/);
  assert.ok(existsSync(machine.path(`${DATA}/state/outbox.db`)));
});

test('reload applies a changed configuration without a restart', options, async () => {
  machine.append(CONFIG, 'log:\n  level: debug\n');
  const reloaded = told('"by":"standard input"');
  service('reload');
  await reloaded();
  assert.match(log(), /"changed":\["log(\.level)?"\]/);
});

test('node.exe killed: it is started again within seconds, and nothing is lost', options, async () => {
  receiver.kill('SIGKILL');
  const eventId = schedule();
  await inFile(eventId);
  const again = told('"msg":"watching"');
  machine.kill('main.js run');
  await again();
  assert.match(log(), /the bridge ended with code \d+ and starts again/);
  listen();
  await atReceiver(eventId);
  await inFile(schedule());
});

test('the service program killed: node.exe ends with it, and the next start continues', options, async () => {
  machine.kill(`${SERVICE}-service.exe`);
  await poll(() => machine.processes('main.js run').length === 0, 'the end of node.exe', 20_000);
  await stopped();
  const eventId = schedule();
  await start();
  await atReceiver(eventId);
});

test('a stop ends it cleanly', options, async () => {
  const inOrder = [told('"msg":"ending"'), told('the service has stopped')];
  machine.run('sc', 'stop', SERVICE);
  for (const each of inOrder) await each();
  assert.match(await stopped(), /WIN32_EXIT_CODE +: 0 /);
  assert.deepEqual(machine.processes('main.js run'), []);
});

test('after an upgrade, the new program delivers the remaining CloudEvents with the same bytes', options, async () => {
  await start();
  receiver.kill('SIGKILL');
  const eventId = schedule();
  await inFile(eventId);
  machine.run('sc', 'stop', SERVICE);
  await stopped();
  // As install.ps1 does; a folder that is in use could not be renamed on Windows.
  installation.unpack(`${PROGRAM}.new`);
  renameSync(machine.path(PROGRAM), machine.path(`${PROGRAM}.old`));
  renameSync(machine.path(`${PROGRAM}.new`), machine.path(PROGRAM));
  rmSync(machine.path(`${PROGRAM}.old`), { recursive: true });
  service('register');
  listen();
  await start();
  await atReceiver(eventId);
  const line = (text: string) => text.split('\n').find((each) => each.includes(`"id":"${eventId}:scheduled"`));
  assert.equal(line(readFileSync(received, 'utf8')), line(machine.read(EVENTS)));
});

test('a large log is rotated', options, async () => {
  machine.run('sc', 'stop', SERVICE);
  await stopped();
  writeFileSync(machine.path(LOG), Buffer.alloc(10 * 1024 * 1024, '\n'));
  await start();
  assert.equal(machine.read(`${LOG}.1`).length, 10 * 1024 * 1024);
  machine.run('sc', 'stop', SERVICE);
  await stopped();
});

test(
  'a bad configuration keeps it stopped with 78, and the log lists the faults; after a correction it starts',
  options,
  async () => {
    const good = machine.read(CONFIG);
    machine.append(CONFIG, 'nonsense: true\n');
    machine.run('sc', 'start', SERVICE);
    await poll(() => log().includes('the configuration is invalid'), log, 60_000);
    const state = await stopped();
    assert.match(state, /WIN32_EXIT_CODE +: 1066 /);
    assert.match(state, /SERVICE_EXIT_CODE +: 78 /);
    assert.match(log(), /nonsense: is not a key of the configuration/);
    machine.write(CONFIG, good);
    await start();
  },
);

test('after unregister, entry and event source are removed, and the state remains', options, async () => {
  machine.run('sc', 'stop', SERVICE);
  await stopped();
  service('unregister');
  const source = `HKLM\\System\\CurrentControlSet\\Services\\EventLog\\Application\\${SERVICE}`;
  // Wine keeps the entry of a service that has run until it ends itself; one that is to go cannot be deleted again.
  for (const line of [
    ['sc', 'delete', SERVICE],
    ['reg', 'query', source],
  ])
    assert.notEqual(machine.try(...line).status, 0, line.join(' '));
  assert.ok(existsSync(machine.path(`${DATA}/state/outbox.db`)));
});
