// `top` on a terminal, with bridges that run → what it shows, what its keys do, how it ends.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts, localSimulator } from '../../far-sides/simulator-server.ts';
import { type EmulatedTerminal, noTerminal as skip, startOnTerminal } from '../../support/emulated-terminal.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, hook, posts, type Sections, startRun, TOKEN, urlOf } from '../../support/running-bridge.ts';

const ENV = { OPS: TOKEN };
const APPROVERS = { approvers: { ops: { token: { env: 'OPS' }, admin: true } } };

/** So many bridges that read the same metadata service. */
async function bridges(t: TestContext, count = 1, sections: Sections = {}) {
  const azure = await localSimulator(t);
  const folders = Array.from({ length: count }, () =>
    bridgeFolder(t, azure.url, { approvals: APPROVERS, ...sections }, folderOf(t)),
  );
  const programs = await Promise.all(folders.map((folder) => startRun(t, folder, { env: ENV })));
  return { azure, programs, folders, urls: programs.map(urlOf) };
}

function startTop(t: TestContext, urls: readonly string[]): EmulatedTerminal {
  return startOnTerminal(t, ['top', ...urls.flatMap((url) => ['--bridge', url]), '--token-env', 'OPS'], ENV);
}

test('one event of 50 is found by its machine and approved by a and y, and no other one', { skip }, async (t) => {
  const { azure, urls } = await bridges(t);
  const events = Array.from({ length: 50 }, (_, index) =>
    azure.schedule({ EventType: index % 3 === 0 ? 'Reboot' : 'Redeploy', Resources: [`web_${index}`, `db_${index}`] }),
  );
  const top = startTop(t, urls);
  await top.shows('50 events, 0 running');
  top.type('/web_37');
  await top.shows('1 of 50 events');
  top.type('\r');
  await top.shows('a approve');
  top.type('a');
  const question = await top.shows('y does it');
  const { EventId, NotBefore } = events[37] ?? assert.fail('no event');
  const notBefore = new Date(NotBefore).toISOString().replace('.000Z', 'Z');
  assert.match(question, /APPROVE at /);
  assert.match(
    question.replaceAll('\n', ' '),
    new RegExp(`Redeploy of web_37, db_37 \\(2 machines\\), NotBefore ${notBefore}`),
  );
  assert.deepEqual(posts(azure), []);
  top.type('y');
  await top.shows('approved: Azure has accepted it');
  await top.shows(/1 of 50 events, 1 running[\s\S]*RUNNING +web_37, db_37/);
  const posted = azure.requests().filter(({ method }) => method === 'POST');
  assert.deepEqual(
    posted.map(({ body }) =>
      JSON.parse(String(body)).StartRequests.map((request: { EventId: string }) => request.EventId),
    ),
    [[EventId]],
  );
});

test('a question is answered by y alone: not by another key, a pasted y, or a y typed before it was shown', {
  skip,
}, async (t) => {
  const { azure, urls } = await bridges(t);
  azure.schedule({ EventType: 'Reboot' });
  const top = startTop(t, urls);
  await top.shows('1 event, 0 running');
  for (const no of ['n', 'Y', '\r', '\u001b']) {
    top.type('a');
    await top.shows('y does it');
    top.type(no);
    await top.shows('nothing was done');
    top.type('k');
    await poll(() => !top.text.includes('nothing was done'), 'the end of the message');
  }
  top.type('ay');
  await top.shows('y does it');
  top.type('\u001b[200~y\u001b[201~x');
  await top.shows('nothing was done');
  assert.deepEqual(posts(azure), []);
});

test('what the policy never approves is not asked about, and a refusal of the bridge is shown whole', {
  skip,
}, async (t) => {
  const orders = { token: { env: 'OPS' }, scope: { impacts: ['Freeze'] } };
  const approvals = { approvers: { orders }, policy: [{ when: { impacts: ['Terminate'] }, then: 'never' }] };
  const { azure, urls } = await bridges(t, 1, { approvals });
  azure.schedule({ EventType: 'Terminate', notice: '5m' });
  const top = startTop(t, urls);
  await top.shows('never approved here');
  top.type('a');
  await top.shows(/never approves this event \(policy\[0\]\)/);
  azure.schedule({ EventType: 'Reboot', notice: '2m' });
  await top.shows(/>.?Reboot/);
  top.type('a');
  await top.shows('y does it');
  top.type('y');
  await top.shows(/NOT approved: [\s\S]*\(403\)/);
  assert.deepEqual(posts(azure), []);
});

test('an event that changes while the question stands is not approved', { skip }, async (t) => {
  const { azure, urls } = await bridges(t);
  const { EventId } = azure.schedule({ EventType: 'Freeze' });
  const top = startTop(t, urls);
  await top.shows('1 event, 0 running');
  top.type('a');
  await top.shows('y does it');
  azure.change(EventId, { EventType: 'Redeploy' });
  await top.shows(/> ?.?Redeploy/);
  top.type('y');
  await top.shows('the event has changed meanwhile');
  assert.deepEqual(posts(azure), []);
});

test('a hold asks for a reason, reaches every bridge that lists the event, and is released', { skip }, async (t) => {
  const { azure, urls } = await bridges(t, 2);
  azure.schedule({ EventType: 'Reboot', Resources: ['web_0'] });
  const top = startTop(t, urls);
  await top.shows(/2 bridges +[\s\S]*1 event, 0 running/);
  top.type('h');
  await top.shows('reason of the hold');
  top.type('the backup runs\r');
  assert.match(await top.shows('y does it'), /HOLD at 2 bridges, reason: the backup runs\?/);
  top.type('y');
  await top.shows('held at 2 of 2 bridges');
  await top.shows('HELD by ops');
  top.type('a');
  await top.shows('y does it');
  top.type('y');
  await top.shows('it is held by ops');
  top.type('e');
  assert.match(await top.shows('story'), /held by ops: the backup runs/);
  top.type('x');
  await top.shows('HELD by ops');
  top.type('r');
  assert.match((await top.shows('y does it')).replaceAll('\n', ' '), /Held by ops \(the backup runs\)/);
  assert.deepEqual(posts(azure), []);
  top.type('y');
  await top.shows('released at 2 of 2 bridges');
  await top.shows('RUNNING');
  assert.deepEqual(posts(azure), [200]);
});

test('a sink in trouble and a bridge that goes away are shown, and the bridge is found again', { skip }, async (t) => {
  const sinks = { away: hook('http://127.0.0.1:9') };
  const http = { listen: `127.0.0.1:${await freePorts()}` };
  const { azure, programs, urls, folders } = await bridges(t, 1, { sinks, http });
  azure.schedule({ EventType: 'Reboot' });
  const top = startTop(t, urls);
  await top.shows(/! .*: sink away (backing off|probing)/);
  top.type('e');
  await top.shows(/story[\s\S]*Platform will reboot[\s\S]*away: queued, after \d/);
  top.type('x');
  await programs[0]?.end('SIGTERM');
  await top.shows(/1 not reached[\s\S]*! .*: not reached for \d+s: /);
  await top.shows(/>.?Reboot.*\? /);
  top.type('t');
  await top.shows(/IN TROUBLE[\s\S]*not reached/);
  top.type('q');
  await top.shows('a approve');
  await startRun(t, folders[0] ?? assert.fail('no folder'), { env: ENV });
  await poll(
    () => !/not reached|\? /.test(top.text),
    () => `the bridge again: ${top.text}`,
  );
});

test('control characters of others are escaped, and no text breaks the columns', { skip }, async (t) => {
  const { azure, urls } = await bridges(t);
  azure.schedule({
    EventType: 'Reboot',
    Resources: ['web\u001b[2J\u001b]0;owned\u0007', '\u202edlrow'],
    Description: '\u001b[31m',
  });
  const top = startTop(t, urls);
  await top.shows(/Reboot .*web\\u001b/);
  top.type('e');
  await top.shows('story');
  assert.match(top.text, /\\u001b\]0;owned\\u0007/);
  assert.ok(!top.printed.includes('\u001b]0;'), 'a sequence of another reached the terminal');
  assert.ok(!top.printed.includes('\u202e'), 'a change of direction reached the terminal');
});

test('it follows the size of the terminal', { skip }, async (t) => {
  const { azure, urls } = await bridges(t);
  for (let index = 0; index < 30; index++) azure.schedule({ EventType: 'Reboot', Resources: [`web_${index}`] });
  const top = startTop(t, urls);
  await top.shows('30 events');
  const rows = () => top.lines.filter((line) => /Reboot +in /.test(line)).length;
  const small = rows();
  top.resize(140, 40);
  await poll(
    () => rows() > small && /q quit$/.test(top.lines[39] ?? ''),
    () => `more rows: ${top.text}`,
  );
  top.resize(60, 10);
  await poll(
    () => top.lines.length === 10 && top.lines[9]?.startsWith('j k choose') === true,
    () => top.text,
  );
  top.type('G');
  await top.shows(/>.?Reboot/);
  top.type('a');
  assert.match(await top.shows('y does it'), /APPROVE/);
});

for (const [name, end] of [
  ['q', (top: EmulatedTerminal) => top.type('q')],
  ['Ctrl-C', (top: EmulatedTerminal) => top.type('\u0003')],
  ['SIGTERM', (top: EmulatedTerminal) => top.signal('SIGTERM')],
  ['SIGHUP', (top: EmulatedTerminal) => top.signal('SIGHUP')],
] as const) {
  test(`${name} ends it with 0 and leaves the terminal as it was`, { skip }, async (t) => {
    const { urls } = await bridges(t);
    const top = startTop(t, urls);
    await top.shows('no scheduled events');
    assert.ok(top.isFullScreen);
    end(top);
    const { code, stderr } = await top.ended();
    assert.deepEqual([code, stderr.trim()], [0, 'the terminal is as before']);
    await poll(() => !top.isFullScreen, 'the screen of before');
    assert.ok(top.printed.includes('\u001b[?25h'), 'the cursor is shown again');
  });
}

test('a fault that nothing catches leaves the terminal as it was, too', { skip }, async (t) => {
  const script = join(folderOf(t), 'fault.ts');
  const source = join(import.meta.dirname, '../../../src/verbs/top/terminal-screen.ts');
  writeFileSync(
    script,
    `import { TerminalScreen } from ${JSON.stringify(source)};
const screen = new TerminalScreen(process as never);
screen.open(() => { throw new Error('a fault'); }, () => {});
screen.draw([{ text: 'open' }]);`,
  );
  const terminal = startOnTerminal(t, [], {}, script);
  await terminal.shows('open');
  assert.ok(terminal.isFullScreen);
  terminal.type('x');
  const { code, stderr } = await terminal.ended();
  assert.deepEqual([code, stderr.trim()], [1, 'the terminal is as before']);
  await poll(() => !terminal.isFullScreen, 'the screen of before');
});

test('without a terminal it exits with 2, and names the verbs for programs', async (t) => {
  const { code, stderr } = await run(t, ['top']);
  assert.equal(code, 2);
  assert.match(stderr, /needs a terminal.*status --json.*tail/);
});
