// The service of the .zip under Wine 10 → its entries in the event log, by Wine's trace.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { poll } from '../support/poll.ts';
import { CONFIG, DATA, PROGRAM, SERVICE, WindowsInstallation } from './windows-installation.ts';
import { noWine, type WineMachine } from './wine-machine.ts';

const options = { skip: noWine, timeout: 300_000 };
const SOURCES = 'HKLM\\System\\CurrentControlSet\\Services\\EventLog\\Application';
const SINKS = `
  log:
    type: windows-event-log
  microsoft:
    type: windows-event-log
    source: AzureScheduledEvents
    format: document
`;

let installation: WindowsInstallation;
let machine: WineMachine;
before(async () => {
  if (noWine) return;
  installation = await WindowsInstallation.make('-all,+eventlog,fixme+advapi');
  machine = installation.machine;
  machine.append(CONFIG, SINKS);
});
after(() => {
  if (noWine) return;
  installation[Symbol.dispose]();
});

interface TracedEntry {
  readonly type: number;
  readonly id: number;
  /** The beginning of each line: Wine shows at most some 300 characters of each. */
  readonly text: string;
}

/** All calls of ReportEventW so far. Wine traces the call, then each line of its text, in the same thread. */
function entries(): readonly TracedEntry[] {
  const found: TracedEntry[] = [];
  const last = new Map<string, number>();
  for (const line of machine.trace().split('\n')) {
    const call = /^(\w+):fixme:advapi:ReportEventW \(\w+,0x(\w+),0x\w+,0x(\w+),/.exec(line);
    const part = /^(\w+):\w+:eventlog:ReportEventW L"(.*)"/.exec(line);
    if (call) last.set(call[1] as string, found.push({ type: hex(call[2]), id: hex(call[3]), text: '' }) - 1);
    const index = last.get(part?.[1] ?? '') ?? -1;
    const entry = found[index];
    if (part && entry) found[index] = { ...entry, text: entry.text + (part[2] ?? '').replaceAll('\\"', '"') };
  }
  return found;
}

const hex = (digits = '') => Number.parseInt(digits, 16);

async function entry(id: number, text: string): Promise<TracedEntry> {
  const matching = () => entries().filter((each) => each.id === id && each.text.includes(text));
  await poll(
    () => matching().length > 0,
    () => `${id} ${text}: ${machine.trace()}${machine.read(`${DATA}/log/service.log`)}`,
    60_000,
  );
  return matching()[0] as TracedEntry;
}

const check = () =>
  machine.run(
    'cmd',
    '/c',
    `C:\\Program Files\\${SERVICE}\\${SERVICE}.cmd`,
    'check',
    '--config',
    `C:\\${CONFIG.replaceAll('/', '\\')}`,
  );

test('the package registers its source with files that have every id of the sink', options, () => {
  // As an earlier version left it.
  machine.run('reg', 'add', `${SOURCES}\\${SERVICE}`, '/v', 'EventMessageFile', '/d', 'EventCreate.exe', '/f');
  installation.service('register');
  const source = machine.run('reg', 'query', `${SOURCES}\\${SERVICE}`);
  assert.match(source, /EventMessageFile +REG_EXPAND_SZ .*\\EventCreate\.exe;.*\\v4\.0\.30319\\EventLogMessages\.dll/);
  assert.match(source, /TypesSupported +REG_DWORD +0x7/);
});

test('check warns of a source that is not registered, and its command registers it once', options, () => {
  assert.match(check(), /sinks\.microsoft: .*-service\.exe register-source "AzureScheduledEvents"/);
  assert.match(installation.service('register-source', 'AzureScheduledEvents'), /is registered in the log Application/);
  assert.doesNotMatch(check(), /warning: sinks/);
  machine.run('reg', 'add', `${SOURCES}\\AzureScheduledEvents`, '/v', 'EventMessageFile', '/d', 'own.dll', '/f');
  assert.match(installation.service('register-source', 'AzureScheduledEvents'), /already registered, and unchanged/);
  assert.match(machine.run('reg', 'query', `${SOURCES}\\AzureScheduledEvents`), /own\.dll/);
});

test('a source of another log is refused, and the message names the log', options, () => {
  machine.run('reg', 'add', 'HKLM\\System\\CurrentControlSet\\Services\\EventLog\\Other\\Elsewhere');
  const program = `C:\\${PROGRAM.replace('/', '\\')}\\${SERVICE}-service.exe`;
  const { status, said } = machine.try(program, 'register-source', 'Elsewhere');
  assert.deepEqual([status, /in the log Other/.test(said)], [1, true]);
});

test('an event is an entry in each format, by the helper of the service program', options, async () => {
  machine.run('sc', 'start', SERVICE);
  await entry(1, 'the service starts');
  const eventId = installation.schedule();
  const document = await entry(1234, `{"EventId":"${eventId}"`);
  assert.equal(document.type, 2, 'a warning');
  assert.ok(document.text.startsWith(`{"EventId":"${eventId}","EventStatus":"Scheduled","EventType":"Reboot",`));
  const text = await entry(1000, `"id":"${eventId.toLowerCase()}:scheduled"`);
  assert.equal(text.type, 2);
  assert.match(text.text, /^Platform will reboot .*\\r\\n\\r\\n\{"specversion":"1\.0",/);
});

test('a helper that was killed is started again, and the event arrives', options, async () => {
  const helpers = () => machine.processes('-service.exe event-log');
  assert.equal(helpers().length, 2);
  machine.kill('-service.exe event-log');
  const eventId = installation.schedule();
  await entry(1234, eventId);
  await entry(1000, eventId.toLowerCase());
  assert.equal(helpers().length, 2);
});

test('the helpers end with the service', options, async () => {
  machine.run('sc', 'stop', SERVICE);
  await installation.stopped();
  await poll(() => machine.processes('-service.exe event-log').length === 0, 'the end of the helpers');
});

test('a bad configuration is an entry with its faults, in which Windows replaces nothing', options, async () => {
  machine.append(CONFIG, "'nonsense%1': true\n");
  machine.run('sc', 'start', SERVICE);
  const { type } = await entry(78, 'nonsense% 1: is not a key of the configuration');
  assert.equal(type, 1, 'an error');
});
