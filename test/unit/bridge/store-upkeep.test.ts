// src/bridge/store-upkeep.ts in virtual time: when it checks the store, and its warning of size.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { startUpkeep } from '../../../src/bridge/store-upkeep.ts';
import type { Outbox } from '../../../src/outbox/outbox.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

/** `looks` tells when the store was asked; a look is a change where `changes` says so. */
function start(changes = () => false) {
  const time = new VirtualTime();
  const looks: number[] = [];
  const found: number[] = [];
  const outbox = {
    changedOutside: () => {
      looks.push(time.elapsedMs());
      return changes();
    },
    usage: () => ({ bytes: 0, maxBytes: null }),
    retention: { prune: () => 0 },
  } as unknown as Outbox;
  const changedOutside = () => found.push(time.elapsedMs());
  const upkeep = startUpkeep({ outbox, retainMs: 1, deps: time, logger: pino({ level: 'silent' }), changedOutside });
  const poll = async (times: number, everyMs: number) => {
    for (let n = 0; n < times; n++) {
      await time.advance(everyMs);
      upkeep.pollBegins();
    }
  };
  return { time, looks, found, upkeep, poll };
}

test('polls a second apart, a little late as timers are, are the only looks', async () => {
  const { looks, poll } = start();
  await poll(1, 950);
  await poll(5, 1003);
  assert.deepEqual(looks, [950, 1953, 2956, 3959, 4962, 5965]);
});

test('between polls that are far apart or hang, a timer looks each second', async () => {
  const { time, looks, poll } = start();
  await poll(1, 950);
  await time.advance(4000);
  assert.deepEqual(looks, [950, 2050, 3050, 4050]);
});

test('quick polls look no more often than about once a second', async () => {
  const { looks, poll } = start();
  await poll(200, 50);
  assert.ok(looks.length >= 10 && looks.length <= 11, `${looks.length} looks in 10 s`);
});

test('a result is reported at once, and a store that fails is asked again', async () => {
  let turn = 0;
  const { time, found, upkeep } = start(() => {
    turn += 1;
    if (turn === 1) throw new Error('the disk');
    return turn === 2;
  });
  await time.advance(3000);
  assert.deepEqual(found, [2000]);
  upkeep.stop();
  assert.equal(time.pending, 0);
});

test('the warning of a store that is nearly full gives its size and the limit as numbers', async () => {
  const time = new VirtualTime();
  const stream = new PassThrough();
  const lines: string[] = [];
  stream.on('data', (chunk) => lines.push(String(chunk)));
  const { logger } = await createLogger({ stream, pretty: false, wallMs: time.wallMs });
  const outbox = {
    changedOutside: () => false,
    usage: () => ({ bytes: 85, maxBytes: 100 }),
    retention: { prune: () => 0 },
  } as unknown as Outbox;
  const upkeep = startUpkeep({ outbox, retainMs: 1, deps: time, logger, changedOutside: () => {} });
  await time.advance(120_000);
  upkeep.stop();
  const { usedBytes, maxBytes, percent } = JSON.parse(lines.join(''));
  assert.deepEqual({ usedBytes, maxBytes, percent }, { usedBytes: 85, maxBytes: 100, percent: 85 });
});
