// docs/simulate/with-curl.md → its blocks, typed in shells against a simulator on a free port.
import assert from 'node:assert/strict';
import test from 'node:test';
import { poll } from '../support/poll.ts';
import { start } from '../support/program.ts';
import { codeBlocksOf } from './markdown-page.ts';

/** The statuses of the events in each document that was printed, a line each. */
function statusesIn(printed: string): string[] {
  const documents = printed.split('\n').filter((line) => line.startsWith('{"DocumentIncarnation"'));
  return documents.map((line) =>
    JSON.parse(line)
      .Events.map(({ EventStatus }: { EventStatus: string }) => EventStatus)
      .join(),
  );
}

test('a page alone shows how to query, watch and approve with curl', async (t) => {
  const [simulate, query, watch, approve, ...others] = codeBlocksOf('docs/simulate/with-curl.md');
  assert.ok(simulate && query && watch && approve && others.length === 0);
  const [, options = ''] = /^npx scheduled-events-bridge (.+)\n$/.exec(simulate.text) ?? [];
  const simulator = start(t, options.replace('127.0.0.1:8080', '127.0.0.1:0').split(' '));
  const { host } = new URL(JSON.parse((await simulator.lines(1))[0] ?? '').endpoint);
  const type = (lines: string) => start(t, [lines.replaceAll('127.0.0.1:8080', host)], { node: 'sh', main: '-c' });

  const watching = type(watch.text);
  const seen = (status: string) => poll(() => statusesIn(watching.stdout).at(-1) === status, `a document with "${status}"`);
  await seen('');

  const queried = await type(query.text).ended();
  assert.deepEqual([queried.code, queried.stderr], [0, '']);
  assert.deepEqual(statusesIn(queried.stdout), ['', 'Scheduled']);
  await seen('Scheduled');

  // The same shell goes on, where the first lines have set the variables; the clock waits until the watcher has seen the start.
  const variables = query.text.split('\n').filter((line) => /^[A-Z]+=/.test(line));
  const lines = approve.text.trimEnd().split('\n');
  const approved = await type([...variables, ...lines.slice(0, -1)].join('\n')).ended();
  assert.deepEqual([approved.code, approved.stdout, approved.stderr], [0, '200\n', '']);
  await seen('Started');
  const advanced = await type([...variables, lines.at(-1)].join('\n')).ended();
  assert.deepEqual([advanced.code, advanced.stderr], [0, '']);
  await seen('');
  assert.deepEqual(statusesIn(watching.stdout), ['', 'Scheduled', 'Started', '']);
});
