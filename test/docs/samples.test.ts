// docs/simulate/samples.md → each block run as it stands, with the simulator at 169.254.169.254.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { folderOf } from '../support/folder.ts';
import { NetworkNamespace, noNetworkNamespace } from '../support/network-namespace.ts';
import { poll } from '../support/poll.ts';
import { start } from '../support/program.ts';
import { type CodeBlock, codeBlocksOf } from './markdown-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = 'docs/simulate/samples.md';
const SERVICE = 'http://169.254.169.254';
const EVENT_ID = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
/** Nobody listens there: who asks a proxy gets no answer. */
const PROXIES = { http_proxy: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9', ALL_PROXY: 'http://127.0.0.1:9' };
const skip = noNetworkNamespace();

const blocks = codeBlocksOf(PAGE);

function block(heading: string, index = 0): CodeBlock {
  const found = blocks.filter((candidate) => candidate.heading === heading)[index];
  assert.ok(found, `${PAGE} has no block ${index} under "${heading}"`);
  return found;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number | null;
}

/** A namespace with an empty simulator in it, and the page's Python files. */
class Fixture {
  readonly namespace: NetworkNamespace;
  readonly folder: string;

  private constructor(t: TestContext) {
    this.namespace = NetworkNamespace.create(t, '169.254.169.254');
    this.folder = folderOf(t);
    for (const [file, heading] of [
      ['query.py', 'Query in Python'],
      ['approve.py', 'Approve in Python'],
      ['watch.py', 'Watch and decide in Python'],
    ] as const) {
      writeFileSync(join(this.folder, file), block(heading).text);
    }
  }

  static async start(t: TestContext): Promise<Fixture> {
    const fixture = new Fixture(t);
    await fixture.namespace.startBridge(['simulate', '--listen', '169.254.169.254:80']).lines(1);
    return fixture;
  }

  /** As typed in a folder, where a proxy is configured. */
  type(sample: CodeBlock, folder = this.folder) {
    return this.namespace.run(sample.text, { folder, env: PROXIES });
  }

  async order(method: string, path: string, body: unknown = {}): Promise<string> {
    const line = `curl -sS --fail-with-body -X ${method} -d '${JSON.stringify(body)}' ${SERVICE}/simulator${path}`;
    const { code, stdout, stderr } = await this.namespace.run(line);
    assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
    return stdout;
  }

  async schedule(EventId: string, fields: object = {}): Promise<void> {
    await this.order('POST', '/events', { EventId, ...fields });
  }

  async asked(method: string): Promise<Asked[]> {
    const { stdout } = await this.namespace.run(`curl -sS ${SERVICE}/simulator/requests`);
    return (JSON.parse(stdout) as Asked[]).filter((request) => request.method === method);
  }

  /** The EventIds of each POST, in order, with the status of its answer. */
  async approvals(): Promise<(readonly [ids: string, status: number | null])[]> {
    return (await this.asked('POST')).map(({ body, status }) => [
      JSON.parse(body)
        .StartRequests.map(({ EventId }: { EventId: string }) => EventId)
        .join(),
      status,
    ]);
  }

  async statusOf(eventId: string): Promise<string | undefined> {
    const { Events } = JSON.parse((await this.type(block('Query in Bash'))).stdout) as {
      Events: { EventId: string; EventStatus: string }[];
    };
    return Events.find(({ EventId }) => EventId === eventId)?.EventStatus;
  }
}

test('docs/simulate/samples.md has these blocks, and a test for each', () => {
  assert.deepEqual(
    blocks.map(({ heading, language }) => `${heading}: ${language}`),
    [
      ...Array(5).fill('Try them without Azure: sh'),
      'Query in Bash: bash',
      'Approve in Bash: bash',
      ...['Query', 'Approve'].flatMap((verb) => [`${verb} in Python: python`, `${verb} in Python: sh`]),
      'Query in PowerShell: powershell',
      'Approve in PowerShell: powershell',
      'Watch and decide in Python: python',
      'Watch and decide in Python: sh',
      ...Array(3).fill('With the tool: sh'),
    ],
  );
});

test('docs/simulate/samples.md says of each PowerShell sample that it has not been run', () => {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const sections = page.split(/^## /m).filter((section) => section.includes('```powershell'));
  assert.equal(sections.length, 2);
  for (const section of sections) assert.match(section, /^.+\n\n> Not run[:,]/);
});

// Most of the time they wait for a poll a second later.
describe('docs/simulate/samples.md', { skip, concurrency: 3 }, () => {
  test('creates a namespace in which the simulator is the metadata service, and deletes it', async (t) => {
    const namespace = NetworkNamespace.named(t);
    const typed = (index: number) =>
      block('Try them without Azure', index).text.replaceAll('try-events', namespace.name);
    const atTheRoot = (lines: string) =>
      start(t, ['-c', `cd -- "$0" || exit\n${lines}`, ROOT], { node: 'bash', main: '--norc' });
    assert.deepEqual(await atTheRoot(typed(0)).ended(), { code: 0, signal: null, stdout: '', stderr: '' });
    const simulator = atTheRoot(`exec ${typed(1)}`);
    assert.equal(new URL(JSON.parse((await simulator.lines(1))[0] ?? '').endpoint).origin, SERVICE);
    const inside = await atTheRoot(
      `${typed(2).trim()} <<'TYPED'\n${typed(3)}\n${block('Query in Bash').text}TYPED`,
    ).ended();
    assert.equal(inside.code, 0, inside.stderr);
    assert.match(
      inside.stdout,
      new RegExp(`"DocumentIncarnation":2.*"EventId":"${EVENT_ID}".*"EventSource":"User"`, 's'),
    );
    namespace.signal('SIGINT');
    await simulator.ended();
    assert.equal((await atTheRoot(typed(4)).ended()).code, 0);
    assert.equal(namespace.exists, false);
  });

  for (const heading of ['Query in Bash', 'Query in Python', 'With the tool'] as const) {
    test(`${heading}: prints the document`, async (t) => {
      const fixture = await Fixture.start(t);
      await fixture.schedule(EVENT_ID, { EventType: 'Freeze', DurationInSeconds: 5 });
      const sample = heading === 'Query in Python' ? block(heading, 1) : block(heading);
      const { code, stdout, stderr } = await fixture.type(sample, heading === 'With the tool' ? ROOT : undefined);
      assert.equal(code, 0, stderr);
      const document = JSON.parse(stdout);
      assert.deepEqual(
        [
          document.DocumentIncarnation,
          document.Events.length,
          document.Events[0].EventId,
          document.Events[0].DurationInSeconds,
        ],
        [2, 1, EVENT_ID, 5],
      );
      assert.equal((await fixture.asked('GET')).length, 1);
    });
  }

  for (const heading of ['Approve in Bash', 'Approve in Python', 'With the tool'] as const) {
    test(`${heading}: starts the event by one POST`, async (t) => {
      const fixture = await Fixture.start(t);
      await fixture.schedule(EVENT_ID, { EventType: 'Reboot' });
      const sample = heading === 'Approve in Bash' ? block(heading) : block(heading, 1);
      const { code, stdout, stderr } = await fixture.type(sample, heading === 'With the tool' ? ROOT : undefined);
      assert.equal(code, 0, stderr);
      assert.equal(
        stdout,
        heading === 'With the tool' ? `${JSON.stringify({ eventId: EVENT_ID, status: 200 })}\n` : '200\n',
      );
      assert.deepEqual(await fixture.approvals(), [[EVENT_ID, 200]]);
      assert.equal(await fixture.statusOf(EVENT_ID), 'Started');
    });
  }

  test('approve.py prints the status of a refusal, and exits with 1', async (t) => {
    const fixture = await Fixture.start(t);
    assert.deepEqual(await fixture.type(block('Approve in Python', 1)), {
      code: 1,
      signal: null,
      stdout: '400\n',
      stderr: '',
    });
  });

  test('query.py takes an empty body for no events, and follows no redirect', async (t) => {
    const fixture = await Fixture.start(t);
    await fixture.order('PUT', '/faults', { body: '' });
    assert.deepEqual(JSON.parse((await fixture.type(block('Query in Python', 1))).stdout), { Events: [] });
    await fixture.order('PUT', '/faults', {
      status: 302,
      headers: { Location: '/metadata/instance?api-version=2021-02-01' },
    });
    const redirected = await fixture.type(block('Query in Python', 1));
    assert.deepEqual([redirected.code, redirected.stdout], [1, '']);
    assert.match(redirected.stderr, /HTTP Error 302/);
    assert.equal((await fixture.asked('GET')).length, 2);
  });

  test('With the tool: watching prints each new document', async (t) => {
    const fixture = await Fixture.start(t);
    const watching = fixture.namespace.startLine(block('With the tool', 2).text, { folder: ROOT, env: PROXIES });
    await watching.lines(1);
    await fixture.schedule(EVENT_ID);
    const printed = (await watching.lines(2)).map((line) => JSON.parse(line).Events.length);
    assert.deepEqual(printed, [0, 1]);
  });

  describe('watch.py', { concurrency: 5 }, () => {
    async function watch(t: TestContext, events: Readonly<Record<string, object>>) {
      const fixture = await Fixture.start(t);
      for (const [id, fields] of Object.entries(events)) await fixture.schedule(id, fields);
      const line = block('Watch and decide in Python', 1).text;
      const watching = fixture.namespace.startLine(line, { folder: fixture.folder, env: PROXIES });
      const times = (words: string) => watching.stderr.split(words).length - 1;
      return { fixture, watching, times };
    }

    test('approves by the policy, event by event, one POST each, and logs what has started', async (t) => {
      const { fixture, watching, times } = await watch(t, {
        SHORT: { EventType: 'Freeze', DurationInSeconds: 5 },
        NINE: { EventType: 'Freeze', DurationInSeconds: 9 },
        UNKNOWN: { EventType: 'Freeze', DurationInSeconds: -1 },
        NONE: { EventType: 'Freeze', DurationInSeconds: 0 },
        EIGHT: { EventType: 'Freeze', DurationInSeconds: 8 },
        REBOOT: { EventType: 'Reboot', DurationInSeconds: 5, NotBefore: '' },
        USER: { EventType: 'Redeploy', EventSource: 'User' },
        RUNNING: { EventType: 'Freeze', EventSource: 'User', DurationInSeconds: 5, EventStatus: 'Started' },
      });
      for (const id of ['SHORT', 'NONE', 'EIGHT', 'USER']) await watching.logs(`${id}: approved`);
      await watching.logs('RUNNING: Freeze of');
      // The approved ones come again in the next document, as Started.
      for (const id of ['SHORT', 'NONE', 'EIGHT']) await watching.logs(`${id}: Freeze of ['sim_0'] has started`);
      await watching.logs("USER: Redeploy of ['sim_0'] has started");
      assert.deepEqual(await fixture.approvals(), [
        ['SHORT', 200],
        ['NONE', 200],
        ['EIGHT', 200],
        ['USER', 200],
      ]);
      for (const id of ['NINE', 'UNKNOWN', 'REBOOT']) assert.equal(times(`${id}: left to the application`), 1);
      assert.match(watching.stderr, /REBOOT: Reboot of \['sim_0'\], not before an unknown time/);
      assert.match(watching.stderr, /NINE: Freeze of \['sim_0'\], not before \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/);
      assert.equal(times('left to the application'), 3);
      assert.deepEqual(await watching.end('SIGINT'), { code: 0, signal: null, stdout: '', stderr: watching.stderr });
      assert.doesNotMatch(watching.stderr, /Traceback/);
    });

    test('takes the new events of a document first, then those that vanished, whether it ended or was cancelled', async (t) => {
      const { fixture, watching } = await watch(t, {
        OLD: { EventType: 'Reboot' },
        RUNNING: { EventStatus: 'Started' },
      });
      await watching.logs('OLD: left to the application');
      await fixture.order('PUT', '/faults', {
        body: { DocumentIncarnation: 9, Events: [{ EventId: 'NEW', EventType: 'Reboot', EventStatus: 'Scheduled' }] },
      });
      await watching.logs('NEW: left to the application');
      await watching.logs('OLD: over, or cancelled');
      await watching.logs('RUNNING: over, or cancelled');
      assert.match(watching.stderr, /NEW: left to the application[\s\S]*over, or cancelled/);
      assert.doesNotMatch(watching.stderr.split('NEW: left')[0] ?? '', /over, or cancelled/);
    });

    test('takes a document of a lower incarnation for a new one', async (t) => {
      const { fixture, watching } = await watch(t, { FIRST: {}, SECOND: {} });
      await watching.logs('SECOND: left to the application');
      const again = { EventId: 'SECOND', EventType: 'Freeze', EventStatus: 'Scheduled', EventSource: 'User' };
      await fixture.order('PUT', '/faults', { body: { DocumentIncarnation: 1, Events: [again] } });
      await watching.logs('SECOND: approved');
      await watching.logs('FIRST: over, or cancelled');
      assert.deepEqual(await fixture.approvals(), [['SECOND', 200]]);
    });

    test('posts again what got no good answer, and not what was refused for good', async (t) => {
      const { fixture, watching, times } = await watch(t, {});
      await fixture.order('PUT', '/faults', { method: 'POST', status: 500 });
      await fixture.schedule('LATE', { EventSource: 'User' });
      await watching.logs('LATE: not approved, status 500');
      await watching.logs('LATE: approved');
      await fixture.order('PUT', '/faults', { method: 'POST', reset: true });
      await fixture.schedule('RESET', { EventSource: 'User' });
      await watching.logs('RESET: not approved yet');
      await watching.logs('RESET: approved');
      await fixture.order('PUT', '/faults', { method: 'POST', status: 400 });
      await fixture.schedule('REFUSED', { EventSource: 'User' });
      await watching.logs('REFUSED: not approved, status 400');
      await fixture.schedule('NEXT', { EventSource: 'User' });
      await watching.logs('NEXT: approved');
      assert.deepEqual(await fixture.approvals(), [
        ['LATE', 500],
        ['LATE', 200],
        ['RESET', null],
        ['RESET', 200],
        ['REFUSED', 400],
        ['NEXT', 200],
      ]);
      assert.equal(times('REFUSED: '), 2);
    });

    test('outlives every broken answer, and ends no event for one', async (t) => {
      const { fixture, watching, times } = await watch(t, { KEPT: { EventType: 'Reboot' } });
      await watching.logs('KEPT: left to the application');
      for (const fault of [
        { status: 503 },
        { body: '<html>a proxy</html>' },
        { body: { DocumentIncarnation: 7, Events: [{ EventType: 'Reboot' }] } },
        { body: [] },
        { body: { DocumentIncarnation: 7, Events: ['x'] } },
        { reset: true },
        { truncate: 20 },
        { status: 302, headers: { Location: '/metadata/instance?api-version=2021-02-01' } },
      ]) {
        const before = times('no document: ');
        await fixture.order('PUT', '/faults', { method: 'GET', ...fault });
        await poll(() => times('no document: ') > before, `a line about ${JSON.stringify(fault)}`);
      }
      await fixture.order('PUT', '/faults', { method: 'GET', body: '' });
      await fixture.schedule('AFTER', { EventType: 'Reboot' });
      await watching.logs('AFTER: left to the application');
      assert.equal(times('over, or cancelled'), 0);
      assert.equal(times('KEPT: '), 2);
      const elsewhere = (await fixture.asked('GET')).filter(({ path }) => path.includes('/instance'));
      assert.deepEqual(elsewhere, []);
    });
  });
});
