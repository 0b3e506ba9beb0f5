// Configurations → AsyncAPI documents: channels, messages, schemas for generators, and no secret.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ADAPTERS } from '../../../adapters/index.ts';
import { readMessageRequests } from '../../../src/approvals/requests/message-requests.ts';
import { asyncApiDocument } from '../../../src/asyncapi/document.ts';
import { exampleConfig } from '../../../src/asyncapi/example-config.ts';
import { CHANGE_NAMES } from '../../../src/model/change-names.ts';
import { type AsyncApi, asyncApiOf, messageFaults, type Schema } from '../../support/asyncapi-document.ts';

const EXAMPLE = JSON.parse(JSON.stringify(asyncApiDocument(exampleConfig(ADAPTERS)))) as AsyncApi;
const TITLES = [
  'Scheduled',
  'Updated',
  'Started',
  'Ended',
  'ApprovalRecorded',
  'ApprovalSubmitted',
  'ApprovalFailed',
  'SourceBlind',
  'SourceRestored',
];
const HOOK = { type: 'webhook', url: 'https://hooks.example.com/maintenance' };
const MODES = {
  structured: HOOK,
  binary: { ...HOOK, mode: 'binary' },
  batch: { ...HOOK, mode: 'batch' },
  signed: { ...HOOK, mode: 'binary', secrets: [{ env: 'HOOK_SECRET' }], origin: 'bridge.example.com' },
  chat: { ...HOOK, body: { template: 'slack' } },
  topic: { type: 'kafka', brokers: ['one:9092', 'two:9092'], topic: 'maintenance', mode: 'structured', keyed: false },
  records: { type: 'kafka', brokers: ['one:9092'], topic: 'maintenance', ssl: true },
  queue: { type: 'service-bus', namespace: 'example.servicebus.windows.net', queue: 'maintenance', mode: 'structured' },
  colon: {
    type: 'service-bus',
    namespace: 'example.servicebus.windows.net',
    topic: 'maintenance',
    attributePrefix: 'colon',
    sessions: true,
  },
  audit: { type: 'stdout' },
};
const HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ALL_MODES = asyncApiOf({ sinks: MODES }, { HOOK_SECRET });

/** Each schema in a value of the document, the value itself included. Examples are no schemas. */
function schemasIn(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, member]) => (key === 'examples' ? [] : schemasIn(member)));
  return Array.isArray(value) ? inner : [value as Schema, ...inner];
}

/** The parts of a document that are schemas: components, headers, payloads, bindings. */
function payloadsOf({ channels, components }: AsyncApi): Schema[] {
  const messages = Object.values(channels).flatMap((channel) => Object.values(channel.messages));
  return schemasIn([components.schemas, messages.map(({ headers, payload }) => [headers, payload])]);
}

test('without a file, it has a channel of each kind, the stream, and each way to approve', () => {
  assert.equal(EXAMPLE.asyncapi, '3.1.0');
  assert.deepEqual(Object.keys(EXAMPLE.channels), [
    ...['kafka', 'service-bus', 'webhook', 'sources.kafka', 'sources.service-bus'],
    ...['v1.stream', 'v1.approvals', 'v1.holds', 'v1.releases'],
  ]);
  const actions = Object.entries(EXAMPLE.operations).map(
    ([id, { action, channel }]) => `${id} ${action} ${channel.$ref}`,
  );
  assert.deepEqual(actions, [
    'send.kafka send #/channels/kafka',
    'send.service-bus send #/channels/service-bus',
    'send.webhook send #/channels/webhook',
    'receive.kafka receive #/channels/sources.kafka',
    'receive.service-bus receive #/channels/sources.service-bus',
    'stream send #/channels/v1.stream',
    'approve receive #/channels/v1.approvals',
    'hold receive #/channels/v1.holds',
    'release receive #/channels/v1.releases',
  ]);
});

test('a channel has a message for each CloudEvent type, and with a filter only for those that pass', () => {
  for (const [id, { messages }] of Object.entries(ALL_MODES.channels)) {
    if (id in MODES || id === 'v1.stream')
      assert.deepEqual(
        Object.values(messages).map(({ title }) => title),
        TITLES,
        id,
      );
  }
  const filtered = asyncApiOf({
    sinks: { hooks: { ...HOOK, mode: 'batch', filter: { changes: ['ended', 'approval.failed'] } } },
  });
  assert.deepEqual(
    Object.values(filtered.channels['hooks']?.messages ?? {}).map(({ name }) => name),
    ['EndedBatch', 'ApprovalFailedBatch'],
  );
  const batch = filtered.channels['hooks']?.messages['Ended']?.payload as { items: { oneOf: unknown[] } };
  assert.equal(batch.items.oneOf.length, 2);
});

test('sinks that do not send to a broker or webhook have no channel', () => {
  assert.equal('audit' in ALL_MODES.channels, false);
});

test('servers have the protocol and each host, and a webhook neither path nor query', () => {
  assert.deepEqual(ALL_MODES.servers['sink-topic-1'], { host: 'one:9092', protocol: 'kafka' });
  assert.deepEqual(ALL_MODES.servers['sink-topic-2'], { host: 'two:9092', protocol: 'kafka' });
  assert.deepEqual(ALL_MODES.servers['sink-records'], { host: 'one:9092', protocol: 'kafka-secure' });
  assert.deepEqual(ALL_MODES.servers['sink-queue'], { host: 'example.servicebus.windows.net', protocol: 'amqps' });
  assert.deepEqual(ALL_MODES.servers['sink-structured'], { host: 'hooks.example.com', protocol: 'https' });
  assert.deepEqual(ALL_MODES.servers['bridge'], { host: '127.0.0.1:8700', protocol: 'http' });
  assert.equal(ALL_MODES.channels['structured']?.address, null);
  assert.equal(ALL_MODES.channels['topic']?.address, 'maintenance');
});

test('each example fits the message that it stands for', () => {
  for (const document of [EXAMPLE, ALL_MODES]) {
    const faults = messageFaults(document);
    for (const [id, { messages }] of Object.entries(document.channels)) {
      for (const [key, message] of Object.entries(messages)) {
        const { examples = [] } = message;
        for (const example of examples) assert.equal(faults.ofMessage(message, example), '', `${id} ${key}`);
        if (examples.length === 0) assert.ok(id === 'chat' || key === 'Release', `${id} ${key} has no example`);
      }
    }
    assert.notEqual(faults.ofChannel('v1.stream', { payload: { specversion: '1.0' } }), '');
  }
});

test('an event of one type does not fit the message of another', () => {
  const { Ended, Scheduled } = EXAMPLE.channels['webhook']?.messages ?? {};
  assert.ok(Ended?.examples?.[0] && Scheduled);
  assert.notEqual(messageFaults(EXAMPLE).ofMessage(Scheduled, Ended.examples[0]), '');
});

test('with a template, any payload fits', () => {
  const faults = messageFaults(ALL_MODES);
  const headers = { 'content-type': 'application/json', 'webhook-id': 'a' };
  for (const payload of ['text', 7, null, { blocks: [] }])
    assert.equal(faults.ofChannel('chat', { headers, payload }), '');
});

test('schemas are for generators: titles, no constant but the discriminator, no null in an enum, no condition, no closed list', () => {
  const titles = new Map<unknown, string>();
  for (const schema of [...payloadsOf(EXAMPLE), ...payloadsOf(ALL_MODES)]) {
    const text = JSON.stringify(schema);
    const keywords = ['if', 'then', 'else', '$id', '$schema', '$defs', 'propertyNames'];
    for (const keyword of keywords) assert.ok(!(keyword in schema), `${keyword} in ${text}`);
    for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Schema))
      assert.ok(!('const' in (member as object)) || ('allOf' in schema && name === 'type'), `${name} of ${text}`);
    if (Array.isArray(schema['enum'])) assert.ok(!schema['enum'].includes(null), text);
    if (schema['type'] === 'object') assert.match(String(schema['title']), /^[A-Z][A-Za-z0-9]*$/, text);
    if (schema['type'] === 'array') assert.ok(!('enum' in (schema['items'] as Schema)), text);
    if (typeof schema['title'] !== 'string' || !('type' in schema)) continue;
    assert.equal(titles.get(schema['title']) ?? text, text, 'equal titles, equal schemas');
    titles.set(schema['title'], text);
  }
  assert.ok(titles.size > 30);
});

test('every reference resolves', () => {
  for (const { $ref } of schemasIn(ALL_MODES)) {
    if (typeof $ref !== 'string') continue;
    const target = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((value, key) => (value as Schema | undefined)?.[key], ALL_MODES);
    assert.ok(target, $ref);
  }
});

test('examples of messages to a source are approvals', () => {
  for (const { messages } of [
    EXAMPLE.channels['sources.kafka'],
    EXAMPLE.channels['sources.service-bus'],
  ] as AsyncApi['channels'][string][]) {
    const [example] = messages['ApprovalMessage']?.examples ?? [];
    assert.notEqual(typeof readMessageRequests(Buffer.from(JSON.stringify(example?.payload))), 'string');
  }
  const faults = messageFaults(EXAMPLE);
  const whole = { Holds: [{ EventId: 'A', reason: 'a backup' }], Releases: [{ EventId: 'A', approver: 'orders' }] };
  assert.notEqual(typeof readMessageRequests(Buffer.from(JSON.stringify(whole))), 'string');
  assert.equal(faults.ofChannel('sources.kafka', { payload: whole }), '');
  assert.notEqual(faults.ofChannel('sources.kafka', { payload: { Holds: [] } }), '');
});

test('types have the configured prefix', () => {
  const document = asyncApiOf({ cloudevents: { typePrefix: 'com.example.vm' }, sinks: { hooks: HOOK } });
  const { payload } = document.channels['hooks']?.messages['Scheduled']?.examples?.[0] ?? {};
  assert.equal((payload as { type: string }).type, 'com.example.vm.scheduled.v1');
  assert.deepEqual(CHANGE_NAMES.length, TITLES.length);
});

test('any combination of valid sinks has a document', () => {
  const hook = fc.record(
    {
      type: fc.constant('webhook'),
      url: fc.constant('https://hooks.example.com/'),
      mode: fc.constantFrom('structured', 'binary', 'batch'),
      secrets: fc.constant([{ env: 'HOOK_SECRET' }]),
      origin: fc.constant('bridge.example.com'),
      filter: fc.record({ changes: fc.uniqueArray(fc.constantFrom(...CHANGE_NAMES), { minLength: 1 }) }),
    },
    { requiredKeys: ['type', 'url'] },
  );
  const contentType = fc.constantFrom(
    'text/plain',
    'text/plain; charset=utf-8',
    'text/plain;charset=utf-8',
    'application/json',
    'Application/JSON',
  );
  const chat = contentType.map((type) => ({ ...HOOK, body: { template: 'slack', contentType: type } }));
  const kafka = fc.record({
    type: fc.constant('kafka'),
    brokers: fc.constant(['[::1]:9092']),
    topic: fc.constant('a.b'),
    keyed: fc.boolean(),
  });
  const name = fc
    .stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
    .filter((text) => !/^_*(proto|constructor|prototype)_*$/.test(text));
  fc.assert(
    fc.property(fc.dictionary(name, fc.oneof(hook, chat, kafka), { minKeys: 1, maxKeys: 6 }), (sinks) => {
      const document = asyncApiOf({ sinks }, { HOOK_SECRET });
      for (const sink of Object.keys(sinks))
        assert.ok(Object.keys(document.channels[sink]?.messages ?? {}).length > 0, sink);
    }),
    { numRuns: 60 },
  );
});

test('no secret is ever in the document', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9]{24,40}$/);
  fc.assert(
    fc.property(fc.array(secret, { minLength: 6, maxLength: 6 }), (values) => {
      const [path = '', token = '', key = '', password = '', header = '', reader = ''] = values;
      const env = {
        URL: `https://hooks.example.com/${path}?sig=${path}`,
        TOKEN: token,
        READER: reader,
        PASSWORD: password,
        HEADER: header,
        HUBS: `Endpoint=sb://hubs.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=${key}`,
        BUS: `Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=${key}`,
        SECRET: `whsec_${Buffer.from(key).toString('base64')}`,
      };
      const sasl = { mechanism: 'plain', username: 'bridge', password: { env: 'PASSWORD' } };
      const oauth2 = { tokenUrl: 'https://login.example.com/', clientId: 'a', clientSecret: { env: 'PASSWORD' } };
      const sections = {
        http: { readers: { grafana: { token: { env: 'READER' } } } },
        approvals: {
          approvers: { orders: { token: { env: 'TOKEN' } } },
          sources: {
            topic: { type: 'kafka', brokers: ['one:9092'], ssl: true, sasl, topic: 'approvals', approver: 'orders' },
            queue: { type: 'service-bus', connectionString: { env: 'BUS' }, queue: 'approvals', approver: 'orders' },
          },
        },
        sinks: {
          hooks: {
            type: 'webhook',
            url: { env: 'URL' },
            headers: { 'x-key': { env: 'HEADER' } },
            secrets: [{ env: 'SECRET' }],
            oauth2,
          },
          hubs: { type: 'kafka', connectionString: { env: 'HUBS' }, topic: 'maintenance' },
          bus: { type: 'service-bus', connectionString: { env: 'BUS' }, topic: 'maintenance' },
        },
      };
      const text = JSON.stringify(asyncApiOf(sections, env));
      for (const value of [...values, env.SECRET]) assert.ok(!text.includes(value));
      assert.ok(text.includes('hooks.example.com') && text.includes('hubs.servicebus.windows.net'));
    }),
    { numRuns: 10 },
  );
});
