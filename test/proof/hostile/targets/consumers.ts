// Deliveries, streams → what the consumer library reads of them, judged by slow second readers.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADAPTERS } from '../../../../adapters/index.ts';
import { sampleEntries } from '../../../../src/cloudevents/samples.ts';
import { readConfig } from '../../../../src/config/read-config.ts';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import { MODES, readHttp } from '../../../../src/consumer/receive/http-event.ts';
import { parseServiceBusMessage } from '../../../../src/consumer/receive/service-bus-message.ts';
import { signatureVerifier } from '../../../../src/consumer/receive/signature.ts';
import { SseParser } from '../../../../src/consumer/receive/sse-parser.ts';
import { readScenario } from '../../../../src/simulator/script/scenario-file.ts';
import { invented, isRecord, jsonOf, type Target } from '../target.ts';

const isConsumerError = (error: unknown) => error instanceof ConsumerError;
const EVENTS = sampleEntries({ source: '/s', typePrefix: 'io.github.scheduled-events-bridge' }).map(({ bytes }) =>
  Buffer.from(bytes),
);

/** As the HTML standard reads an event stream, all of it at once. */
function eventsOfStream(text: string): { id: string | null; data: string | null }[] {
  const events: { id: string | null; data: string | null }[] = [];
  let [id, isNewId, data] = [null as string | null, false, [] as string[]];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  // The last line has no end.
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      if (data.length > 0 || isNewId) events.push({ id, data: data.length > 0 ? data.join('\n') : null });
      [data, isNewId] = [[], false];
      continue;
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    if (name === 'id') [id, isNewId] = [value, true];
  }
  return events;
}

const STREAM = EVENTS.slice(0, 3).map((bytes, index) => `id: ${index}\nevent: scheduled\ndata: ${bytes}\n\n`);
const STREAMS = [
  STREAM.join(''),
  ': beat\n\nid: 7\n\ndata: a\r\ndata: b\r\n\r\n',
  'id:1\rdata:{}\r\rdata\n\n',
  'data: é😀\n\n',
];

function cutRead(input: Buffer) {
  const parser = new SseParser();
  const events = [];
  // Pieces of lengths that follow from the input: 1, 2, 3, 5, 8 … bytes.
  for (let at = 0, [size, next] = [1, 2]; at < input.length; at += size, [size, next] = [next, size + next])
    events.push(...parser.take(input.subarray(at, at + size)));
  // What ends in CR is complete only with the next byte.
  return events;
}

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const NOW_S = 1_700_000_000;
const verify = signatureVerifier({ secrets: [SECRET], toleranceMs: 300_000 }, { wallMs: () => NOW_S * 1000 });
const signatureOf = (body: Buffer) =>
  `v1,${createHmac('sha256', Buffer.alloc(32, 7)).update(`id-1.${NOW_S}.`).update(body).digest('base64')}`;
const SIGNED = EVENTS[0] as Buffer;
/** Three headers, an empty line, the body. */
const DELIVERY = Buffer.concat([Buffer.from(`id-1\n${NOW_S}\n${signatureOf(SIGNED)}\n\n`), SIGNED]);

function verified(input: Buffer) {
  const head = input.indexOf('\n\n');
  const [id = '', timestamp = '', signature = ''] = input.subarray(0, Math.max(0, head)).toString().split('\n');
  const headers: Record<string, string> = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  };
  const body = input.subarray(head + 2);
  return { id: verify((name) => headers[name] ?? null, body), body, timestamp };
}

const REFERENCE = readFileSync(join(import.meta.dirname, '../../../../deploy/container/bridge.yaml'));
const CONFIGURATION = Buffer.from(`version: 1
metadata: { endpoint: http://127.0.0.1:1, pollInterval: 1s }
sinks:
  hooks: { type: webhook, url: https://hooks.example.com/x, retry: { maxAge: 1h }, filter: { changes: [scheduled], resources: ["web*"] } }
  bus: { type: service-bus, namespace: a.servicebus.windows.net, topic: t, credential: managed-identity }
  log: { type: syslog, server: "tls://logs.example.com:6514", format: cef }
  stream: { type: kafka, brokers: [a:9092], topic: t, sasl: { mechanism: plain, username: u, password: { env: ANY } } }
http: { listen: 127.0.0.1:8700, readers: { grafana: { token: { env: ANY } } } }
approvals:
  approvers: { orders: { token: { env: TOKEN } } }
  policy: [{ when: { impacts: [Reboot] }, require: [orders] }]
  group: { submit: leader }
log: { level: info }
`);
const AROUND = {
  adapters: ADAPTERS,
  env: { ANY: 'any-secret-of-16-chars', TOKEN: 'token-of-16-characters' },
  directory: '/nowhere',
  readFile: () => 'text of a file',
};

export const CONSUMER_TARGETS: readonly Target[] = [
  {
    name: 'stream of events',
    kind: 'stream',
    material: {
      samples: STREAMS.map((text) => Buffer.from(text)),
      form: 'text',
      words: ['id', 'data', 'event', 'retry'],
    },
    run: cutRead,
    allows: isConsumerError,
    judge: (input, output) => {
      // The last character may be incomplete.
      const text = new TextDecoder().decode(input, { stream: true });
      // A CR at the end may be half of a line end, so its event is not complete.
      const expected = eventsOfStream(text.endsWith('\r') ? text.slice(0, -1) : text);
      return JSON.stringify(output) === JSON.stringify(expected)
        ? null
        : `read ${JSON.stringify(output).slice(0, 300)} instead of ${JSON.stringify(expected).slice(0, 300)}`;
    },
  },
  {
    name: 'delivery of a webhook',
    kind: 'stream',
    material: { samples: EVENTS },
    run: (input) =>
      ['application/cloudevents+json', 'application/cloudevents-batch+json', 'application/json'].flatMap((type) => {
        const headers: [string, string][] = [
          ['content-type', type],
          ['ce-id', '1'],
          ['ce-source', input.subarray(0, 40).toString('latin1')],
          ['ce-type', 't'],
          ['ce-specversion', '1.0'],
        ];
        try {
          return readHttp(headers, input, { modes: MODES } as Parameters<typeof readHttp>[2]).events;
        } catch (error) {
          if (error instanceof ConsumerError) return [];
          throw error;
        }
      }),
    judge: (input, output) => {
      const given = jsonOf(input);
      const all = Array.isArray(given) ? given : [given];
      const ids = new Set(['1', ...all.map((one) => (isRecord(one) ? one['id'] : undefined))]);
      return (output as readonly { id: unknown }[]).every(({ id }) => ids.has(id))
        ? null
        : invented('an event that was not sent');
    },
  },
  {
    name: 'message of Service Bus',
    kind: 'stream',
    material: { samples: EVENTS },
    run: (input) =>
      parseServiceBusMessage({ body: input, contentType: 'application/cloudevents+json' } as Parameters<
        typeof parseServiceBusMessage
      >[0]),
    allows: isConsumerError,
  },
  {
    name: 'signature of a webhook',
    kind: 'stream',
    material: { samples: [DELIVERY], form: 'bytes' },
    run: verified,
    allows: isConsumerError,
    judge: (_, output) => {
      const { id, body, timestamp } = output as { id: string; body: Buffer; timestamp: string };
      return id === 'id-1' && body.equals(SIGNED) && Number(timestamp) === NOW_S
        ? null
        : invented('a delivery that was not signed is accepted');
    },
  },
  {
    name: 'configuration',
    kind: 'configuration',
    material: {
      samples: [CONFIGURATION, REFERENCE],
      form: 'text',
      words: ['sinks', 'approvals', 'policy', 'filter', 'env', 'file'],
    },
    run: (input) => readConfig(input.toString(), AROUND),
    judge: (_, output) => {
      const { faults } = output as { faults?: readonly { path: unknown; message: string }[] };
      if (faults === undefined) return null;
      if (faults.length === 0) return 'refused without a fault';
      return JSON.stringify(faults).includes('any-secret-of-16-chars') ? 'a fault shows a secret' : null;
    },
  },
  {
    name: 'scenario of the simulator',
    kind: 'configuration',
    material: {
      samples: [
        Buffer.from(
          'name: one\ndescription: d\nvms: 2\nsteps:\n  - { at: 1s, schedule: { EventType: Reboot, Resources: [0] }, as: a }\n  - { at: 2m, start: a }\n',
        ),
      ],
      form: 'text',
    },
    run: (input) => readScenario(input.toString(), 'one'),
  },
];
