// Programs and files of sinks that others may change → warnings of `check`, `run` and a reload.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder } from '../../support/running-bridge.ts';

const options = { skip: process.getuid === undefined ? 'files have no modes here' : false };
const EVERYBODY = 'everybody on this machine';

/** A folder that other users can reach, and what is in it. */
class Place {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = folderOf(t);
    chmodSync(this.folder, 0o755);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  make(name: string, mode = 0o755): string {
    mkdirSync(this.path(name));
    chmodSync(this.path(name), mode);
    return this.path(name);
  }

  put(name: string, text: string, mode = 0o755): string {
    writeFileSync(this.path(name), text);
    chmodSync(this.path(name), mode);
    return this.path(name);
  }
}

/** What `check` warns of, without what to do, for these sinks. */
async function warnings(
  t: TestContext,
  sinks: object,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { sinks });
  const { code, stderr } = await run(t, ['check', '--config', config], { env });
  assert.equal(code, 0, stderr);
  return stderr.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/^warning: |, who .*$/g, '')]));
}

const command = (...line: readonly string[]) => ({ type: 'command', run: line });

test(
  'a program that everybody may change is named, and so is one in a folder that they may write to',
  options,
  async (t) => {
    const place = new Place(t);
    const [closed, open] = [place.put('closed', '#!/bin/sh\n'), place.put('open', '#!/bin/sh\n', 0o777)];
    place.make('public', 0o777);
    const replaceable = place.put('public/program', '#!/bin/sh\n');
    assert.deepEqual(
      await warnings(t, { closed: command(closed), open: command(open), replaceable: command(replaceable) }),
      [
        `sinks.open.run: the program ${open} may be changed by ${EVERYBODY}`,
        `sinks.replaceable.run: the program ${replaceable} may be changed by ${EVERYBODY}`,
      ],
    );
  },
);

test('so are its interpreter, that of its interpreter, and files among its arguments', options, async (t) => {
  const place = new Place(t);
  const interpreter = place.put('interpreter', '#!/bin/sh\n', 0o777);
  const named = place.put('named', '#!/bin/sh\n', 0o777);
  const script = place.put('script', `#! ${place.put('middle', `#!${interpreter}\n`)} -x\n`);
  const byName = place.put('by-name', '#!/usr/bin/env named\n');
  const argument = place.put('argument.sh', 'exit 0\n', 0o666);
  const sinks = {
    script: command(script),
    named: { ...command(byName), env: { PATH: `/usr/bin:/bin:${place.folder}` } },
    shell: command('/bin/sh', argument, '--output', place.path('not-there')),
  };
  assert.deepEqual(await warnings(t, sinks), [
    `sinks.script.run: the interpreter ${interpreter} may be changed by ${EVERYBODY}`,
    `sinks.named.run: the interpreter ${named} may be changed by ${EVERYBODY}`,
    `sinks.shell.run: the file ${argument} may be changed by ${EVERYBODY}`,
  ]);
});

test(
  'a program of PATH is named with the folders before it, in which another one of its name would be found first',
  options,
  async (t) => {
    const place = new Place(t);
    const [first, second, third] = [place.make('first', 0o1777), place.make('second'), place.make('third', 0o1777)];
    place.put('second/prepare', '#!/bin/sh\n');
    const env = { PATH: [first, second, third, process.env['PATH'] ?? ''].join(':') };
    assert.deepEqual(await warnings(t, { prepare: command('prepare') }, env), [
      `sinks.prepare.run: the folder of PATH ${first} may be changed by ${EVERYBODY}`,
    ]);
  },
);

const KUBECONFIG = (place: Place) => `
current-context: a
contexts: [ { name: a, context: { cluster: a, user: a } } ]
clusters: [ { name: a, cluster: { server: "https://127.0.0.1:6443", certificate-authority: ca.crt } } ]
users: [ { name: a, user: { tokenFile: "${place.path('token')}" } } ]
`;

test('a kubeconfig is named, and the files that it names', options, async (t) => {
  const place = new Place(t);
  place.put('ca.crt', '', 0o666);
  place.put('token', 'a-token-of-the-bridge', 0o644);
  const kubeconfig = place.put('config', KUBECONFIG(place), 0o602);
  assert.deepEqual(
    await warnings(t, { node: { type: 'kubernetes', prepare: ['cordon'], kubeconfig, node: 'node-1' } }),
    [
      `sinks.node.kubeconfig: the file ${kubeconfig} may be changed by ${EVERYBODY}`,
      `sinks.node.kubeconfig: the file ${place.path('ca.crt')} may be changed by ${EVERYBODY}`,
      `sinks.node.kubeconfig: the file ${place.path('token')} may be read by ${EVERYBODY}: allow only its owner to read it`,
    ],
  );
});

test('run and a reload log what others may change', options, async (t) => {
  const place = new Place(t);
  const open = place.put('open', '#!/bin/sh\ncat > /dev/null\n', 0o777);
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, { sinks: { open: command(open) } });
  const bridge = start(t, ['run', '--config', folder.config]);
  await bridge.logs('"watching"');
  bridgeFolder(t, simulator.url, { sinks: { open: command(open), again: command(open) } }, join(folder.config, '..'));
  bridge.child.kill('SIGHUP');
  await bridge.logs('"changed":["sinks.again"]');
  const { stderr } = await bridge.end('SIGTERM');
  const lines = stderr.split('\n').filter((line) => line.includes(`the program ${open} may be changed`));
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { path: string }).path),
    ['sinks.open.run', 'sinks.open.run', 'sinks.again.run'],
  );
});
