// createLogger: lines and their fields, what is kept out of them, and a reader that is too slow.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { createLogger, type LoggerOptions } from '../../../src/telemetry/logger.ts';
import { LOG_LEVELS } from '../../../src/telemetry/options.ts';
import { settle } from '../../virtual/virtual-time.ts';

const wallMs = () => Date.UTC(2026, 0, 2, 3, 4, 5, 6);

interface Line {
  readonly [field: string]: unknown;
  readonly err?: {
    readonly code?: string;
    readonly message: string;
    readonly causes?: readonly string[];
    readonly stack?: string;
  };
}

async function logging(options: Partial<LoggerOptions> = {}) {
  const chunks: string[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk) => chunks.push(String(chunk)));
  const { logger, setLevel } = await createLogger({ stream, pretty: false, wallMs, ...options });
  const text = async () => {
    await settle();
    return chunks.join('');
  };
  return {
    logger,
    setLevel,
    text,
    lines: async () =>
      (await text())
        .split('\n')
        .filter(Boolean)
        .map((line): Line => JSON.parse(line)),
  };
}

/** A stream that takes everything and passes on nothing until it is opened. */
class StandingStill extends Writable {
  readonly lines: string[] = [];
  #open: (() => void) | null = null;
  #isOpen = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.lines.push(...String(chunk).trimEnd().split('\n'));
    if (this.#isOpen) done();
    else this.#open = done;
  }

  open(): void {
    this.#isOpen = true;
    this.#open?.();
  }
}

test('a line has its level as a word, the time of the given clock and its message, and nothing about the machine', async () => {
  const { logger, lines } = await logging();
  logger.child({ area: 'delivery', sink: 'hooks' }).warn({ attempts: 2 }, 'not delivered');
  assert.deepEqual(await lines(), [
    {
      level: 'warn',
      time: '2026-01-02T03:04:05.006Z',
      area: 'delivery',
      sink: 'hooks',
      attempts: 2,
      msg: 'not delivered',
    },
  ]);
});

test('the default level is info', async () => {
  const quiet = await logging();
  quiet.logger.debug('too much');
  assert.deepEqual(await quiet.lines(), []);
  const loud = await logging({ level: 'debug' });
  loud.logger.debug('asked for');
  assert.equal((await loud.lines()).length, 1);
});

test('an error is logged by code, message and the messages of its causes, without stack', async () => {
  const { logger, lines } = await logging();
  const error = new BridgeError('BRIDGE_INTERNAL', 'could not', { cause: new Error('reset', { cause: 'the cable' }) });
  logger.error({ err: error }, 'failed');
  assert.deepEqual((await lines())[0]?.err, {
    code: 'BRIDGE_INTERNAL',
    message: 'could not',
    causes: ['reset', 'the cable'],
  });
});

test('at debug an error brings its stack', async () => {
  const { logger, lines } = await logging({ level: 'debug' });
  logger.error({ err: new Error('x') }, 'failed');
  assert.match((await lines())[0]?.err?.stack ?? '', /logger\.test/);
});

test('a circular chain of causes is cut', async () => {
  const { logger, lines } = await logging();
  const error = new Error('round');
  error.cause = error;
  logger.error({ err: error }, 'failed');
  assert.equal((await lines())[0]?.err?.causes?.length, 5);
});

test('a thrown value that is not an Error is logged too', async () => {
  const { logger, lines } = await logging();
  logger.error({ err: 'a text' }, 'failed');
  assert.deepEqual((await lines())[0]?.err, { message: 'a text' });
});

test('tokens, secrets, bodies and credentials in messages never reach the log', async () => {
  const { logger, text } = await logging({ level: 'trace' });
  const marker = 'sEcReT-MaRkEr';
  for (const name of ['authorization', 'token', 'tokens', 'secret', 'secrets', 'password', 'body', 'payload']) {
    logger.info({ [name]: marker, request: { [name]: marker } }, 'x');
  }
  const cause = new Error(`connect https://user:${marker}@host/`);
  logger.error({ err: new Error(`refused: Authorization: Bearer ${marker}`, { cause }) }, 'x');
  assert.doesNotMatch(await text(), new RegExp(marker));
});

test('lines beyond the buffer are dropped and counted, which is logged once the reader has caught up', async () => {
  const stream = new StandingStill({ highWaterMark: 64 });
  const { logger, dropped } = await createLogger({ stream, pretty: false, wallMs, bufferBytes: 1000 });
  for (let index = 0; index < 100; index++) logger.info({ index }, 'line');
  assert.ok(dropped() > 0 && dropped() < 100);
  assert.ok(stream.writableLength <= 1000);
  const lost = dropped();
  const drained = once(stream, 'drain');
  stream.open();
  await drained;
  logger.info('afterwards');
  await settle();
  const lines: Line[] = stream.lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.slice(0, 100 - lost).map(({ index }) => index),
    Array.from({ length: 100 - lost }, (_, index) => index),
  );
  assert.deepEqual(
    lines.slice(100 - lost).map(({ area, dropped: told, msg }) => [area, told, msg]),
    [
      ['log', lost, 'log lines were dropped: the reader of the log is too slow'],
      [undefined, undefined, 'afterwards'],
    ],
  );
  assert.equal(dropped(), lost);
});

test('a broken stream ends the log, but not the program', async () => {
  const stream = new PassThrough();
  const { logger, dropped } = await createLogger({ stream, pretty: false, wallMs });
  stream.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  await settle();
  logger.info('into the void');
  assert.equal(dropped(), 1);
});

test('a line larger than the whole buffer is dropped', async () => {
  const { logger, lines } = await logging({ bufferBytes: 200 });
  logger.info({ filler: 'x'.repeat(200) }, 'too large');
  assert.deepEqual(await lines(), []);
});

test('on a terminal a line is readable', async () => {
  const { logger, text } = await logging({ pretty: true });
  logger.child({ sink: 'hooks' }).info('delivered');
  const printed = await text();
  assert.match(printed, /INFO.*delivered/);
  assert.match(printed, /hooks/);
  assert.throws(() => JSON.parse(printed));
});

const DOC = readFileSync(new URL('../../../docs/operate/logs.md', import.meta.url), 'utf8');

test('the documentation lists every level', () => {
  const documented = new Set([...DOC.matchAll(/^\| `(\w+)` \| [A-Z].*\| .*\|$/gm)].map(([, level]) => level));
  for (const level of LOG_LEVELS.filter((name) => name !== 'silent')) assert.ok(documented.has(level), level);
});

test('the documentation lists every area that logs, and no other', () => {
  const src = new URL('../../../src/', import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const code = files.map((file) => readFileSync(new URL(file, src), 'utf8')).join('\n');
  const spoken = new Set([...code.matchAll(/\barea: '(\w+)'/g)].map(([, area]) => area));
  const row = DOC.split('\n').find((line) => line.startsWith('| `area` |')) ?? '';
  const documented = [...row.matchAll(/`(\w+)`/g)].map(([, area]) => area).slice(1);
  assert.deepEqual(documented.sort(), [...spoken].sort());
});

test('long texts and lists are cut at any depth, with the missing amount', async () => {
  const { logger, lines, text } = await logging();
  const long = 'x'.repeat(60_000);
  const many = Array.from({ length: 1000 }, (_, place) => place);
  logger.info(
    { eventId: long, place: { messageId: long, deep: { deeper: [long] } }, approvers: many, count: 7, nothing: null },
    'refused',
  );
  const [line] = await lines();
  const cut = `${'x'.repeat(512)}… (59488 more)`;
  assert.deepEqual([line?.['eventId'], line?.['place']], [cut, { messageId: cut, deep: { deeper: [cut] } }]);
  const approvers = line?.['approvers'];
  assert.deepEqual(Array.isArray(approvers) && approvers.slice(-2), [63, '… (936 more)']);
  assert.deepEqual([line?.['msg'], line?.['count'], line?.['nothing']], ['refused', 7, null]);
  assert.ok((await text()).length < 4000);
});

test('objects with many or very long keys, and circular ones, do not make a long line', async () => {
  const { logger, text } = await logging();
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, place) => [`${place} ${'k'.repeat(2000)}`, place]));
  const round: Record<string, unknown> = {};
  round['self'] = round;
  logger.info({ wide, round }, 'refused');
  assert.ok((await text()).length < 64 * 1024);
});

test('messages of errors and of their causes are cut after credentials are removed', async () => {
  const { logger, lines } = await logging();
  const long = `${'x'.repeat(1990)} Bearer ${'s'.repeat(50_000)}`;
  logger.error({ err: new Error(long, { cause: new Error(long) }) }, 'failed');
  const err = (await lines())[0]?.err;
  for (const told of [err?.message ?? '', err?.causes?.[0] ?? '']) {
    assert.ok(told.length < 2100);
    assert.doesNotMatch(told, /ss/);
  }
});

test('a cut text does not end with half a character', async () => {
  const { logger, lines } = await logging();
  logger.info({ eventId: `x${'😀'.repeat(300)}` }, 'refused');
  assert.match(String((await lines())[0]?.['eventId']), /^x(😀){255}\ufffd… \(89 more\)$/u);
});

/** Clears the screen, forges a line, and colours by a character that JSON does not escape. */
const HOSTILE = 'a\u001b[2J\r\nforged\u009b31m\u202e';
const ESCAPED = 'a\\u001b[2J\\r\\nforged\\u009b31m\\u202e';

test('characters that JSON does not escape but a terminal interprets are escaped, and the JSON means the same', async () => {
  const { logger, text, lines } = await logging();
  logger.info({ reason: HOSTILE, [HOSTILE]: 1 }, HOSTILE);
  assert.doesNotMatch(await text(), /[\p{Cc}\p{Bidi_Control}](?!$)/u);
  const [line] = await lines();
  assert.deepEqual([line?.['reason'], line?.[HOSTILE], line?.['msg']], [HOSTILE, 1, HOSTILE]);
});

/** Without the printer's own colours. */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

for (const [what, fields] of [
  ["the VM's name", { name: HOSTILE }],
  ['the message', { msg: HOSTILE }],
  ['a field', { reason: HOSTILE, deep: { deeper: [HOSTILE] } }],
  ['what stands in front of a line', { pid: HOSTILE, hostname: HOSTILE, caller: HOSTILE }],
] as const) {
  test(`on a terminal, ${what} is one line without control characters`, async () => {
    const { logger, text } = await logging({ pretty: true });
    logger.info(fields);
    const plain = (await text()).replaceAll(COLOURS, '');
    assert.ok(plain.includes(ESCAPED), plain);
    assert.doesNotMatch(plain.slice(0, -1), /[\p{Cc}\p{Bidi_Control}]/u);
  });
}

test('on a terminal, an error shows its message escaped, and its stack in separate lines that cannot be forged', async () => {
  const { logger, text } = await logging({ pretty: true, level: 'debug' });
  logger.error({ err: new Error(HOSTILE) }, 'failed');
  const plain = (await text()).replaceAll(COLOURS, '');
  assert.ok(plain.includes(ESCAPED), plain);
  assert.match(plain, /\n +at .*logger\.test\.ts/);
  assert.doesNotMatch(plain, /^ *forged/m);
  assert.doesNotMatch(plain.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u);
});

test('a new level applies to all children, created before or after, except those with their own level', async () => {
  const { logger, setLevel, lines } = await logging();
  const child = logger.child({ area: 'a' });
  const grandchild = child.child({ area: 'b' });
  const quiet = logger.child({}, { level: 'silent' });
  grandchild.debug('not yet');
  setLevel('debug');
  for (const each of [logger, child, grandchild, quiet, child.child({})]) each.debug({ err: new Error('why') }, 'now');
  setLevel('warn');
  for (const each of [logger, child, grandchild]) each.info('no more');
  const told = await lines();
  assert.deepEqual(
    told.map(({ msg }) => msg),
    ['now', 'now', 'now', 'now'],
  );
  assert.ok(
    told.every(({ err }) => err?.stack !== undefined),
    'with the stack, as at that level',
  );
});
