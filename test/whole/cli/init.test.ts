// `init` with options and on a terminal → a configuration that check accepts and run uses.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts, localSimulator } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { run, start } from '../../support/program.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';
/** Nothing listens there. */
const CLOSED = '127.0.0.1:9';

/** An empty folder and a metadata service; all options name the latter, so that no other one is asked. */
async function machine(t: TestContext) {
  const [{ url }, folder] = [await localSimulator(t), folderOf(t)];
  const file = join(folder, 'bridge.yaml');
  const init = (args: readonly string[], env = {}) =>
    run(t, ['init', '--endpoint', url, ...args], { cwd: folder, env });
  return { url, folder, file, init };
}

test('with options it asks nothing: it names the machine, makes a token for each approver, and the bridge runs', async (t) => {
  const { folder, file, init } = await machine(t);
  const port = await freePorts();
  const { code, stdout, stderr } = await init([
    ...['--write', file, '--listen', `127.0.0.1:${port}`, '--sink', 'file=events.jsonl', '--console'],
    ...['--approver', 'orders', '--approver', 'billing'],
  ]);
  assert.deepEqual([code, stdout], [0, ''], stderr);
  assert.doesNotMatch(stderr, /warning/);
  assert.match(stderr, /next: .*scheduled-events-bridge run --config .*bridge\.yaml\n$/);
  assert.match(readFileSync(file, 'utf8'), /^# .* the VM sim_0 /);
  const tokens = ['orders', 'billing'].map((name) => {
    const path = join(folder, `${name}.token`);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    return readFileSync(path, 'utf8').trim();
  });
  assert.ok(tokens.every((token) => token.length >= 32));
  assert.notEqual(tokens[0], tokens[1]);
  const checked = await run(t, ['check', '--config', file, '--connect']);
  assert.equal(checked.code, 0, checked.stdout);
  const bridge = start(t, ['run', '--config', file], { cwd: folder });
  await bridge.logs('"listening"');
  const answer = await fetch(`http://127.0.0.1:${port}/v1/caller`, {
    headers: { authorization: `Bearer ${tokens[0]}` },
  });
  assert.equal(((await answer.json()) as { name: string }).name, 'orders');
  await bridge.end('SIGTERM');
});

const FORMS: readonly string[] = [
  ...['stdout', 'file=events.jsonl', `webhook=http://${CLOSED}/hook`, `kafka=${CLOSED}/maintenance`],
  ...[`service-bus=${CLOSED}/maintenance`, 'command=true', `syslog=tcp://${CLOSED}`, `otlp=http://${CLOSED}/v1/logs`],
  ...[`elasticsearch=http://${CLOSED}`, 'kubernetes=cordon,drain'],
];

test('a sink of each form passes check; what cannot be reached is a warning, with exit code 0', async (t) => {
  const { file, init } = await machine(t);
  const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '9' };
  const sinks = FORMS.flatMap((form) => ['--sink', form]);
  const { code, stderr } = await init(['--write', file, ...sinks, '--listen', '127.0.0.1:0'], env);
  assert.equal(code, 0, stderr);
  const warned = [...stderr.matchAll(/^warning: sinks\.([a-z-]+): /gm)].map(([, name]) => name);
  assert.deepEqual(warned, ['webhook', 'kafka', 'service-bus', 'syslog', 'otlp', 'elasticsearch', 'kubernetes']);
  const checked = await run(t, ['check', '--config', file], { env });
  assert.equal(checked.code, 0, checked.stderr);
});

test('without --write it prints the configuration; a metadata service that is away is a warning', async (t) => {
  const folder = folderOf(t);
  const { code, stdout, stderr } = await run(t, ['init', '--endpoint', `http://${CLOSED}`], { cwd: folder });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^warning: metadata: /m);
  const file = join(folder, 'printed.yaml');
  writeFileSync(file, stdout);
  assert.equal((await run(t, ['check', '--config', file])).code, 0, stdout);
});

test('a file that is there is never overwritten, and then nothing else is written: exit code 1', async (t) => {
  const { folder, file, init } = await machine(t);
  writeFileSync(file, 'mine');
  const first = await init(['--write', file, '--approver', 'orders']);
  assert.deepEqual([first.code, readFileSync(file, 'utf8'), readdirSync(folder)], [1, 'mine', ['bridge.yaml']]);
  writeFileSync(join(folder, 'orders.token'), 'mine');
  const second = await init(['--write', 'other.yaml', '--approver', 'billing', '--approver', 'orders']);
  assert.deepEqual([second.code, readdirSync(folder).sort()], [1, ['bridge.yaml', 'orders.token']]);
  assert.equal(readFileSync(join(folder, 'orders.token'), 'utf8'), 'mine');
  const third = await init(['--write', 'x.token', '--approver', 'x']);
  assert.deepEqual([third.code, readdirSync(folder).sort()], [1, ['bridge.yaml', 'orders.token']]);
  const fourth = await init(['--write', 'missing/bridge.yaml', '--approver', 'x']);
  assert.match(fourth.stderr, /cannot be written \(ENOENT\)/);
  assert.equal(fourth.code, 1);
});

test('options that give no valid configuration are named before anything is written: exit code 2', async (t) => {
  const { folder, init } = await machine(t);
  for (const [args, reason] of [
    [['--sink', 'opensearch=https://example.com'], /did you mean elasticsearch/],
    [['--sink', 'webhook=ftp://example.com'], /sinks\.webhook\.url/],
    [['--sink', 'stdout', '--sink', 'stdout'], /second stdout sink/],
    [['--approver', '../x'], /not a valid name/],
    [['--listen', '0.0.0.0:8700'], /http\.listen/],
  ] as const) {
    const { code, stderr } = await init([...args, '--write', 'bridge.yaml']);
    assert.deepEqual([code, readdirSync(folder)], [2, []], stderr);
    assert.match(stderr, reason);
  }
  const silent = await run(t, ['init', '--write', join(folder, 'bridge.yaml')]);
  assert.deepEqual([silent.code, readdirSync(folder)], [2, []]);
  assert.match(silent.stderr, /no terminal/);
});

/** Types each answer when its question is on the terminal. */
async function play(
  t: TestContext,
  args: readonly string[],
  answers: readonly (readonly [RegExp, string])[],
  cwd: string,
) {
  const terminal = start(t, [process.execPath, MAIN, ...args], {
    node: 'python3',
    main: ON_TERMINAL,
    input: null,
    cwd,
  });
  let shown = 0;
  for (const [question, answer] of answers) {
    const asked = () => question.exec(terminal.stdout.slice(shown));
    await poll(() => asked() !== null || terminal.hasEnded, `${question} in ${terminal.stdout.slice(shown)}`);
    shown += (asked()?.index ?? 0) + (asked()?.[0].length ?? 0);
    terminal.child.stdin?.write(answer);
  }
  return await terminal.ended();
}

test('on a terminal it asks, tries each answer, and writes what was answered', { skip }, async (t) => {
  const { url, folder, file } = await machine(t);
  const { code, stdout } = await play(
    t,
    ['init', '--write', file],
    [
      [/metadata service \[.*\]: /, `${url}\r`],
      [/the VM sim_0.*Sink \[stdout\]: /s, 'webhok=x\r'],
      [/did you mean webhook\?.*Sink \[stdout\]: /s, `webhook=http://${CLOSED}/\r`],
      [/cannot be reached now: .*anyway\? \[y\/N\] /s, 'n\r'],
      [/Sink \[stdout\]: /, 'file=events.jsonl\r'],
      [/It can be reached\..*Another sink: /s, '\r'],
      [/Approver: /, 'no name\r'],
      [/Not added: .*Approver: /s, 'orders\r'],
      [/Approver: /, '\r'],
      [/console.*\[y\/N\] /s, 'y\r'],
    ],
    folder,
  );
  assert.equal(code, 0, stdout);
  assert.match(stdout, /next: .*run --config/);
  assert.deepEqual(readdirSync(folder).sort(), ['bridge.yaml', 'orders.token']);
  const text = readFileSync(file, 'utf8');
  assert.match(text, /console: true/);
  assert.match(text, /\nsinks:\n {2}file:\n {4}type: file\n {4}path: events\.jsonl\n$/);
  assert.equal((await run(t, ['check', '--config', file, '--connect'])).code, 0, text);
});

test('Ctrl-C or Ctrl-D during the questions writes nothing: exit code 1', { skip }, async (t) => {
  const { url, folder, file } = await machine(t);
  for (const key of ['\x03', '\x04']) {
    const answers = [
      [/metadata service \[.*\]: /, `${url}\r`],
      [/Sink \[stdout\]: /, key],
    ] as const;
    const { code, stdout } = await play(t, ['init', '--write', file], answers, folder);
    assert.match(stdout, /nothing was written/);
    assert.deepEqual([code, readdirSync(folder)], [1, []]);
  }
});
