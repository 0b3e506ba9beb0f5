// docs/receive/examples/go/ → every maintenance and bad input by webhook, and what its README adds.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { folderOf } from '../support/folder.ts';
import { SECRET } from '../unit/consumer/deliveries.ts';
import { changeOf, inMinutes } from './channel.ts';
import { goProgram, withoutGo } from './go.ts';
import { Maintenance } from './maintenance.ts';
import { playAll } from './play.ts';
import { webhookChannel } from './webhook-channel.ts';

test('the webhook receiver in Go lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutGo,
}, async (t) => {
  await playAll(t, goProgram(t, 'webhook'), await webhookChannel(t));
});

test('the webhook receiver in Go acknowledges nothing before it is on disk', { skip: withoutGo }, async (t) => {
  const channel = await webhookChannel(t);
  const play = await Maintenance.begin(t, goProgram(t, 'webhook'), channel);
  const folder = join(folderOf(t), 'missing');
  await play.start({ STATE: join(folder, 'state') });
  for (const _attempt of [1, 2]) await assert.rejects(channel.send(changeOf('ended', 'gone')), /answered 500/);
  mkdirSync(folder);
  await channel.send(changeOf('ended', 'gone'));
  await play.says(/^ended gone: completed, was not prepared$/);
});

test('the program in Go does not approve what it could not prepare for before NotBefore, and passes another source', {
  skip: withoutGo,
}, async (t) => {
  const channel = await webhookChannel(t);
  const play = await Maintenance.begin(t, goProgram(t, 'webhook'), channel);
  await play.start({ PREPARE_SECONDS: '600', SOURCE: '/subscriptions/s/resourcegroups/g' });
  await channel.send(changeOf('scheduled', 'others', { source: '/subscriptions/s/resourcegroups/other' }));
  await play.says(/^passed others:scheduled: another source$/);
  await channel.send(changeOf('scheduled', 'slow', {}, { notBefore: inMinutes(3 / 60) }));
  await play.says(/^not prepared, so not approved: slow: /);
  assert.equal(play.count(/^approval /), 0);
  await channel.send(changeOf('ended', 'slow'));
  await play.says(/^recovered slow: completed$/);
});

test('the webhook receiver in Go answers 415 to a signed CloudEvent in binary mode', { skip: withoutGo }, async (t) => {
  const channel = await webhookChannel(t);
  const play = await Maintenance.begin(t, goProgram(t, 'webhook'), channel);
  await play.start();
  const [body, id, at] = ['{}', 'x:scheduled', new Date()];
  const stamp = `${Math.floor(at.getTime() / 1000)}`;
  const proof = {
    'webhook-id': id,
    'webhook-timestamp': stamp,
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  };
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': id,
    'ce-type': 'x',
    'ce-source': '/x',
    ...proof,
  };
  const { status } = await fetch(`http://127.0.0.1:${channel.programEnv['PORT']}/`, { method: 'POST', headers, body });
  assert.equal(status, 415);
});
