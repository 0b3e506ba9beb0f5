// Bodies and queries of requests, messages of brokers → requests, judged by what the input names.

import { decompressLz4 } from '../../../../adapters/kafka/source/codecs/lz4.ts';
import { hasFewRecords } from '../../../../adapters/kafka/source/codecs/record-count.ts';
import { decompressSnappy } from '../../../../adapters/kafka/source/codecs/snappy.ts';
import { parseHold, parseRelease } from '../../../../src/approvals/requests/hold-requests.ts';
import { parseMessageBody, readMessageRequests } from '../../../../src/approvals/requests/message-requests.ts';
import { eventNamedIn } from '../../../../src/approvals/requests/named-event.ts';
import { parseStartRequests } from '../../../../src/approvals/requests/start-requests.ts';
import { parseInstant, parseNotBefore, parseRetryAfter } from '../../../../src/formats/dates.ts';
import { parseDuration } from '../../../../src/formats/durations.ts';
import { parseSize } from '../../../../src/formats/sizes.ts';
import { visibleLine } from '../../../../src/formats/visible-text.ts';
import { readJsonBody } from '../../../../src/http/body.ts';
import { pageIn, timeIn } from '../../../../src/http/query.ts';
import type { RouteRequest } from '../../../../src/http/route.ts';
import { streamQuery } from '../../../../src/http/stream/stream-query.ts';
import { invented, isRecord, jsonOf, type Target, type Verdict } from '../target.ts';

const ID = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
const STARTS = { StartRequests: [{ EventId: ID, Seen: `${ID.toLowerCase()}:scheduled` }, { EventId: 'b' }] };
const EVENT = { specversion: '1.0', id: '1', source: '/s', type: 'com.example.approval' };
const SAMPLES = [
  STARTS,
  { StartRequests: [{ EventId: ID }], DocumentIncarnation: 3 },
  { Holds: [{ EventId: ID, reason: 'backup' }], Releases: [{ EventId: 'b', approver: 'orders' }] },
  { EventId: ID, reason: 'backup' },
  { ...EVENT, data: STARTS },
  { ...EVENT, data_base64: Buffer.from(JSON.stringify(STARTS)).toString('base64') },
  { approved: true, event: { eventId: ID } },
].map((sample) => Buffer.from(JSON.stringify(sample)));

const WORDS = ['StartRequests', 'Holds', 'Releases', 'EventId', 'Seen', 'approver', 'reason', 'specversion', 'eventid'];

interface Named {
  readonly eventId: string;
}

/** The EventIds of a list in a body; a CloudEvent's data is a body, too. */
function idsIn(value: unknown, list: string): Set<unknown> {
  const bodies = [value, ...(isRecord(value) ? [value['data'], decoded(value['data_base64'])] : [])];
  const lists = bodies.flatMap((body) => (isRecord(body) && Array.isArray(body[list]) ? [body[list]] : []));
  return new Set(lists.flat().map((entry) => (isRecord(entry) ? entry['EventId'] : undefined)));
}

function decoded(base64: unknown): unknown {
  return typeof base64 === 'string' ? jsonOf(Buffer.from(base64, 'base64')) : undefined;
}

function judgeRequests(input: Buffer, output: unknown): Verdict {
  if (typeof output === 'string') return null;
  const { starts, holds, releases } = output as Record<'starts' | 'holds' | 'releases', readonly Named[]>;
  const json = jsonOf(input);
  for (const [requests, list] of [
    [starts, 'StartRequests'],
    [holds, 'Holds'],
    [releases, 'Releases'],
  ] as const) {
    const ids = idsIn(json, list);
    const unknown = requests.find(({ eventId }) => !ids.has(eventId));
    if (unknown) return invented(`${list} invents ${unknown.eventId}`);
  }
  return input.length > 64 * 1024 ? 'a message over 64 KiB was read' : null;
}

const requestOf = (input: Buffer, contentType: string): RouteRequest =>
  ({ headers: { 'content-type': contentType }, body: async () => input }) as unknown as RouteRequest;

async function bodyOf(input: Buffer) {
  const read = [];
  for (const contentType of ['application/json', 'application/cloudevents+json']) {
    const result = await readJsonBody(requestOf(input, contentType));
    if ('reply' in result) {
      if (result.reply.status < 400) throw new Error('a refusal without a status of one');
      continue;
    }
    const { value } = result;
    read.push({ starts: parseStartRequests(value), hold: parseHold(value), release: parseRelease(value) });
  }
  return read;
}

function judgeBody(input: Buffer, output: unknown): Verdict {
  const ids = idsIn(jsonOf(input), 'StartRequests');
  for (const { starts } of output as readonly { readonly starts: string | readonly Named[] }[]) {
    const unknown = typeof starts === 'string' ? undefined : starts.find(({ eventId }) => !ids.has(eventId));
    if (unknown) return invented(`StartRequests invents ${unknown.eventId}`);
  }
  return null;
}

const SNAPPY = Buffer.from([11, 40, ...Buffer.from('hello world')]);
const XERIAL = Buffer.concat([
  Buffer.from('\x82SNAPPY\0', 'latin1'),
  Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, SNAPPY.length]),
  SNAPPY,
]);
const LZ4 = Buffer.from('04224d186440a70b00000048656c6c6f20776f726c6400000000'.replace('0b000000', '0b000080'), 'hex');
const RECORDS = Buffer.concat(Array(5).fill(Buffer.from([14, 0, 0, 0, 1, 0, 0, 0])));
const MESSAGES = Buffer.concat(Array(3).fill(Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 1, 2, 3, 4])));
const MOST_UNPACKED = 64 * 1024;
const isRangeError = (error: unknown) => error instanceof RangeError;
const unpacks = (
  name: string,
  samples: readonly Buffer[],
  unpack: (bytes: Buffer, most: number) => Buffer,
): Target => ({
  name,
  kind: 'broker message',
  material: { samples, form: 'bytes' },
  run: (input) => unpack(input, MOST_UNPACKED),
  allows: isRangeError,
  judge: (_, output) => ((output as Buffer).length <= MOST_UNPACKED ? null : 'more than the limit'),
});

const QUERIES = [
  'limit=10&after=3',
  'changes=scheduled,ended&impacts=Reboot&resources=web*,db?',
  'after=0&begin=listed',
  'since=2026-01-01T00:00:00Z&limit=1000',
];
const TEXTS = [
  '2022-04-11T22:26:58Z',
  'Mon, 11 Apr 2022 22:26:58 GMT',
  '120',
  '1.5h',
  '64KiB',
  '2022-04-11T22:26:58.123+02:00',
  'a\u001bb',
];

export const BODY_TARGETS: readonly Target[] = [
  {
    name: 'body of a request',
    kind: 'body',
    material: { samples: SAMPLES, words: WORDS },
    run: bodyOf,
    judge: judgeBody,
  },
  {
    name: 'query of a request',
    kind: 'body',
    material: { samples: QUERIES.map((query) => Buffer.from(query)), form: 'text', words: ['changes', 'resources'] },
    run: (input) => {
      const query = new URLSearchParams(input.toString());
      const stream = streamQuery({ query, headers: { 'last-event-id': input.toString().slice(0, 100) } });
      const frame = { change: 'scheduled', judged: { impact: 'Reboot', resources: ['web_0', 'é'.repeat(200)] } };
      const passes = 'filter' in stream && stream.filter(frame as unknown as Parameters<typeof stream.filter>[0]);
      return { page: pageIn(query, 1000), time: timeIn(query, 'since', 0), passes };
    },
    judge: (_, output) => {
      const { page } = output as { page: string | { limit: number; after: number } };
      if (typeof page === 'string') return null;
      return page.limit >= 1 && page.limit <= 1000 && page.after >= 0 ? null : 'a page out of its bounds';
    },
  },
  {
    name: 'dates, durations and sizes',
    kind: 'body',
    material: { samples: TEXTS.map((text) => Buffer.from(text)), form: 'text' },
    run: (input) => {
      const text = input.toString();
      return [
        ...[parseInstant(text), parseNotBefore(text), parseRetryAfter(text, 0), parseDuration(text), parseSize(text)],
        visibleLine(text),
      ];
    },
    judge: (_, output) => {
      const [instant, notBefore, retryMs, ...rest] = output as (number | string | null)[];
      if ([instant, retryMs, rest[0], rest[1]].some((value) => value !== null && !Number.isFinite(value)))
        return 'not a number';
      if (notBefore !== null && !Number.isFinite(Date.parse(String(notBefore)))) return `not a date: ${notBefore}`;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
      return /[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]/.test(String(rest[2]))
        ? 'a control character'
        : null;
    },
  },
  {
    name: 'message of a source',
    kind: 'broker message',
    material: { samples: SAMPLES, words: WORDS },
    run: (input) => {
      parseMessageBody(input);
      return readMessageRequests(input);
    },
    judge: judgeRequests,
  },
  {
    name: 'event named in a message',
    kind: 'broker message',
    material: { samples: SAMPLES, words: WORDS },
    run: (input) => eventNamedIn(input, (key) => key === ID.toLowerCase() || key === 'b'),
    judge: (_, output) =>
      output === null || ['b', ID.toLowerCase()].includes(String(output).toLowerCase())
        ? null
        : invented('an unknown event'),
  },
  {
    name: 'records of a batch',
    kind: 'broker message',
    material: { samples: [RECORDS, MESSAGES], form: 'bytes' },
    run: (input) => hasFewRecords(input, 1000),
    judge: (input, output) => (output === true || input.length > 1000 ? null : 'few bytes count as many records'),
  },
  unpacks('snappy batch', [SNAPPY, XERIAL], decompressSnappy),
  unpacks('lz4 batch', [LZ4], decompressLz4),
];
