// `simulate` and `demo` as processes → a metadata service, and one maintenance that ends by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, start } from '../../support/program.ts';

test('simulate prints its address, answers there, and exits with 0 at SIGTERM', async (t) => {
  const program = start(t, ['simulate', '--listen', '127.0.0.1:0', '--name', 'web_3', '--scenario', 'demo']);
  const [line = ''] = await program.lines(1);
  const { endpoint } = JSON.parse(line);
  const response = await fetch(`${endpoint}/metadata/scheduledevents?api-version=2020-07-01`, {
    headers: { Metadata: 'true' },
  });
  const { Events } = (await response.json()) as { Events: { Resources: string[] }[] };
  assert.deepEqual(
    Events.map(({ Resources }) => Resources),
    [['web_3']],
  );
  assert.deepEqual(await program.end('SIGTERM'), { code: 0, signal: null, stdout: `${line}\n`, stderr: '' });
});

test('simulate exits with 0 at SIGINT too', async (t) => {
  const program = start(t, ['simulate', '--listen', '127.0.0.1:0']);
  await program.lines(1);
  assert.equal((await program.end('SIGINT')).code, 0);
});

test('simulate on a port in use reports it, with advice, and exits with 1', async (t) => {
  const first = start(t, ['simulate', '--listen', '127.0.0.1:0']);
  const [line = ''] = await first.lines(1);
  const { host } = new URL(JSON.parse(line).endpoint);
  const { code, stdout, stderr } = await run(t, ['simulate', '--listen', host]);
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.match(stderr, new RegExp(`cannot listen on ${host} .*EADDRINUSE.*--listen`));
});

test('simulate --list prints each scenario with its purpose', async (t) => {
  const { code, stdout, stderr } = await run(t, ['simulate', '--list']);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, /^demo +\S.+\n(?:[a-z0-9-]+ +\S.+\n)+$/);
  assert.match(stdout, /^live-migration +\S/m);
});

test('demo explains one maintenance, scheduled, approved, started and ended, in less than 30 s, and exits with 0', async (t) => {
  const program = start(t, ['demo']);
  const limit = setTimeout(() => program.child.kill('SIGKILL'), 30_000);
  t.after(() => clearTimeout(limit));
  const { code, signal, stdout, stderr } = await program.ended();
  assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
  assert.match(
    stdout,
    /\nscheduled .+approves.+submitted\.\nstarted .+approved by subscriber\.\nended .+completed.+\n/s,
  );
});

test('demo exits at once with 0 when it is interrupted', async (t) => {
  const program = start(t, ['demo']);
  await program.lines(3);
  const { code, stdout } = await program.end('SIGINT');
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /\nended /);
});
