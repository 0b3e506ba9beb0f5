// Dropped connections → log lines, few of them however many connections are dropped.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { DropLog } from '../../../../src/http/server/drop-log.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

test('dropped connections are logged once a minute for each network, for 16 of them, with the listener and why', async () => {
  const time = new VirtualTime();
  const lines: string[] = [];
  const log = new DropLog(time, pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }));
  for (let count = 0; count < 5; count++) log.dropped('http.health', '192.0.2.1', 'unread');
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /"address":"192\.0\.2\.1","reason":"unread","msg":"http\.health: connections were closed whose answers nobody read"/,
  );
  for (let host = 0; host < 100; host++) log.dropped('http.listen', `198.51.100.${host}`, 'crowded');
  assert.equal(lines.length, 16);
  await time.advance(60_000);
  log.dropped('http.listen', '192.0.2.1', 'full');
  assert.equal(lines.length, 17);
});
