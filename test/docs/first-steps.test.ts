// docs/operate/first-steps.md → its blocks pasted whole, and what the receiver prints.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts } from '../far-sides/simulator-server.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { Terminal } from '../support/terminal.ts';
import { codeBlocksOf } from './markdown-page.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the steps, pasted whole, show one maintenance from scheduled to ended', async (t) => {
  const folder = folderOf(t);
  for (const name of ['dist', 'node_modules']) symlinkSync(join(ROOT, name), join(folder, name));
  // `npx scheduled-events-bridge …` and `npx node …` of the checkout.
  const npx = `#!/bin/sh\ncommand=$1; shift\n[ "$command" = node ] || set -- dist/main.js "$@"\nexec '${process.execPath}' "$@"\n`;
  writeFileSync(join(folder, 'npx'), npx, { mode: 0o755 });
  const port = await freePorts(3);
  const here = (text: string) =>
    text
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
      .replaceAll(/127\.0\.0\.1:9000|(?<=listen\()9000/g, (found) => found.replace('9000', String(port + 1)))
      .replaceAll('127.0.0.1:8700', `127.0.0.1:${port + 2}`)
      .replace('version: 1\n', `version: 1\nhttp: { listen: "127.0.0.1:${port + 2}" }\n`);
  const [terminals = '', steps = ''] = codeBlocksOf('docs/operate/first-steps.md').map(({ text }) => here(text));
  const [, azure = '', receiver = '', bridge = ''] = terminals.split(/^# \d: /m).map((text) => text.replace(/^.*\n/, ''));
  const [first, second, third] = [new Terminal(t, folder), new Terminal(t, folder), new Terminal(t, folder)];
  first.start(azure);
  second.start(receiver);
  await first.lines(1);
  third.start(bridge);
  await poll(
    () => third.stderr.includes('"watching"'),
    () => `${third.stdout}${third.stderr}`,
  );
  const printed = await new Terminal(t, folder).type(steps);
  assert.match(printed, /"eventStatus":"Scheduled".*\n?.*"state":"submitted","approvedBy":\["me"\]/s);
  const types = () =>
    second.stdout
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { type: string }).type.split('.').at(-2)] : []));
  await poll(
    () => types().includes('ended'),
    () => `ended: ${types()}`,
  );
  assert.deepEqual(types(), ['scheduled', 'recorded', 'submitted', 'started', 'ended']);
});
