// rsyslog over a file that the bridge or logrotate rotates → every accepted line read once, whole.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { logrotateIn, withoutLogrotate } from '../../far-sides/file/logrotate.ts';
import { RsyslogReader, withoutRsyslog } from '../../far-sides/file/rsyslog-reader.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { deliverMeanwhile, idsOf } from './steady-load.ts';

const hasLines = (path: string) => () => existsSync(path) && statSync(path).size > 4096;

test('rsyslog reads every line once while logrotate moves and compresses the file', {
  skip: withoutRsyslog || withoutLogrotate,
}, async (t) => {
  const folder = folderOf(t);
  const logs = join(folder, 'logs');
  mkdirSync(logs, { mode: 0o755 });
  const path = join(logs, 'events.ndjson');
  const reader = RsyslogReader.start(t, folder, path);
  const logrotate = logrotateIn(folder, logs);
  const accepted = await deliverMeanwhile({ path }, async () => {
    for (let rotation = 0; rotation < 4; rotation++) {
      await poll(hasLines(path), 'some lines');
      await poll(() => reader.read() !== '', 'rsyslog to read');
      await logrotate.rotate();
    }
    await poll(hasLines(path), 'lines of the new file');
  });
  await poll(() => idsOf(reader.read()).length >= accepted.length, `${accepted.length} lines`);
  assert.deepEqual([...idsOf(reader.read())].sort(), [...accepted].sort());
});

test('a line of 64 KiB reaches rsyslog whole', { skip: withoutRsyslog }, async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'events.ndjson');
  const reader = RsyslogReader.start(t, folder, path);
  const large = sampleDelivery({ padding: 64 * 1024 });
  await deliverMeanwhile({ path }, () => poll(() => reader.read() !== '', 'rsyslog to read'), [large]);
  const [line] = reader.read().split('\n');
  assert.deepEqual(JSON.parse(line ?? ''), JSON.parse(Buffer.from(large.bytes).toString()));
  assert.ok(readdirSync(folder).includes('events.ndjson'));
});
