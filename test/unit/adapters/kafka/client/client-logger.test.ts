// What kafkajs says → which of it our log holds, at which level, and how often.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logLevel as LEVEL, type LogEntry, type logLevel } from 'kafkajs';
import { pino } from 'pino';
import { clientLogger, levelFor } from '../../../../../adapters/kafka/client/client-logger.ts';
import { VirtualTime } from '../../../../virtual/virtual-time.ts';

function start() {
  const lines: string[] = [];
  const time = new VirtualTime();
  const logger = pino(
    { level: 'trace', base: null, timestamp: false },
    { write: (line: string) => void lines.push(line) },
  );
  const write = clientLogger(logger, time)(LEVEL.DEBUG);
  const say = (level: logLevel, message: unknown, extra: object = {}, namespace = 'Connection') =>
    write({
      namespace,
      level,
      label: 'x',
      log: { timestamp: 'now', message: message as string, logger: 'kafkajs', ...extra },
    } as LogEntry);
  return { time, say, lines: () => lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('errors and warnings become warnings, information goes to debug and the rest to trace', () => {
  const { say, lines } = start();
  say(LEVEL.ERROR, 'one');
  say(LEVEL.WARN, 'two');
  say(LEVEL.INFO, 'three');
  say(LEVEL.DEBUG, 'four');
  assert.deepEqual(
    lines().map(({ level, msg }) => [level, msg]),
    [
      [40, 'kafkajs: Connection: one'],
      [40, 'kafkajs: Connection: two'],
      [20, 'kafkajs: Connection: three'],
      [10, 'kafkajs: Connection: four'],
    ],
  );
});

test('what is said again goes to debug for ten minutes, with other numbers too', async () => {
  const { time, say, lines } = start();
  const levels = () => lines().map(({ level }) => level);
  say(LEVEL.ERROR, 'Connection error: connect ECONNREFUSED 127.0.0.1:9092');
  say(LEVEL.ERROR, 'Connection error: connect ECONNREFUSED 127.0.0.1:9093');
  say(LEVEL.ERROR, 'Connection timeout');
  say(LEVEL.ERROR, 'Crash', { error: 'one' });
  say(LEVEL.ERROR, 'Crash', { error: 'another' });
  assert.deepEqual(levels(), [40, 20, 40, 40, 40]);
  await time.advance(599_999);
  say(LEVEL.ERROR, 'Connection timeout');
  await time.advance(1);
  say(LEVEL.ERROR, 'Connection timeout');
  assert.deepEqual(levels(), [20, 40]);
});

test('an error that a broker answered is told to who asked, and goes to debug here', () => {
  const { say, lines } = start();
  say(LEVEL.ERROR, 'Response Produce(key: 0, version: 7)', { error: 'not the leader' });
  assert.deepEqual(lines(), [
    { level: 20, error: 'not the leader', msg: 'kafkajs: Connection: Response Produce(key: 0, version: 7)' },
  ]);
});

test('that idempotence has few retries is meant so, and goes to debug', () => {
  const { say, lines } = start();
  say(LEVEL.WARN, 'Limiting retries for the idempotent producer may invalidate EoS guarantees', {}, 'Producer');
  assert.deepEqual(
    lines().map(({ level }) => level),
    [20],
  );
});

test('only chosen fields are logged: no record, no answer, no login, no stack', () => {
  const { say, lines } = start();
  const hidden = {
    data: { authBytes: Buffer.from('hidden') },
    payload: 'hidden',
    sasl: { password: 'hidden' },
    stack: 'hidden',
    topics: ['hidden'],
  };
  say(LEVEL.DEBUG, 'Response SaslAuthenticate', {
    broker: 'b:9092',
    correlationId: 7,
    size: 12,
    topic: 'maintenance',
    ...hidden,
  });
  assert.deepEqual(lines(), [
    {
      level: 10,
      broker: 'b:9092',
      correlationId: 7,
      size: 12,
      topic: 'maintenance',
      msg: 'kafkajs: Connection: Response SaslAuthenticate',
    },
  ]);
});

test('an error in place of a message gives its message, and a long one is cut', () => {
  const { say, lines } = start();
  say(LEVEL.ERROR, new Error('x'.repeat(10_000)), {}, '');
  const [{ msg } = {}] = lines();
  assert.equal(msg, `kafkajs: ${'x'.repeat(500)}`);
});

test('more different things than can be remembered are all said', () => {
  const { say, lines } = start();
  for (let round = 0; round < 1000; round += 1) say(LEVEL.ERROR, String.fromCodePoint(0x4e00 + round));
  assert.ok(lines().every(({ level }) => level === 40));
});

test('kafkajs makes no lines that our log would drop', () => {
  const levels = ['trace', 'debug', 'info', 'silent'].map((level) => levelFor(pino({ level })));
  assert.deepEqual(levels, [LEVEL.DEBUG, LEVEL.INFO, LEVEL.WARN, LEVEL.WARN]);
});
