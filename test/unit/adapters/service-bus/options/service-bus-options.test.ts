// The keys of a Service Bus sink → options, and every fault; none repeats a possible secret.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { parseConnectionString } from '../../../../../adapters/service-bus/options/connection-string.ts';
import { serviceBusOptions } from '../../../../../adapters/service-bus/options/service-bus-options.ts';
import { serviceBusSink } from '../../../../../adapters/service-bus/service-bus.ts';
import { adapterDeps } from '../../../../adapters/adapter-deps.ts';
import { openSecrets } from '../../../../adapters/contract.ts';

const NAMESPACE = { namespace: 'my-ns.servicebus.windows.net' };
const BY_STRING = { connectionString: { env: 'BUS' } };
const GOOD = 'Endpoint=sb://my-ns.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=hidden=';

test('a namespace and a queue are enough; the rest has defaults', () => {
  const { mode, sessions, attributePrefix, timeout, transport, ttl } = v.parse(serviceBusOptions, {
    ...NAMESPACE,
    queue: 'q',
  });
  assert.deepEqual(
    { mode, sessions, attributePrefix, timeout, transport, ttl },
    {
      mode: 'binary',
      sessions: false,
      attributePrefix: 'underscore',
      timeout: 10_000,
      transport: 'amqp',
      ttl: undefined,
    },
  );
});

/** Faulty options → the path that the fault names, and words of it. */
const FAULTS: readonly (readonly [options: Readonly<Record<string, unknown>>, path: string, says: RegExp])[] = [
  [{ queue: 'q' }, 'namespace', /missing.*connectionString/],
  [{ ...NAMESPACE, ...BY_STRING, queue: 'q' }, 'connectionString', /one of them/],
  [{ ...NAMESPACE }, 'queue', /missing.*topic/],
  [{ ...NAMESPACE, queue: 'q', topic: 't' }, 'topic', /one of them/],
  ...[
    'sb://my-ns.servicebus.windows.net/',
    'my-ns',
    'my-ns.servicebus.windows.net/',
    'a.b:99999',
    'a.b:0',
    'a b.c',
    'user@a.b',
    '',
  ].map((namespace) => [{ namespace, queue: 'q' }, 'namespace', /host name/] as const),
  ...['', '/q', 'q/', 'a b', 'q?x', 'q#x', '$cbs', 'a\\b'].map(
    (queue) => [{ ...NAMESPACE, queue }, 'queue', /name of a queue/] as const,
  ),
  [{ ...NAMESPACE, topic: 'x'.repeat(261) }, 'topic', /260/],
  [{ ...NAMESPACE, queue: 'q', mode: 'batch' }, 'mode', /binary/],
  [{ ...NAMESPACE, queue: 'q', sessions: 'yes' }, 'sessions', /./],
  [{ ...NAMESPACE, queue: 'q', attributePrefix: '_' }, 'attributePrefix', /underscore/],
  ...['0s', '999ms', '50d', 'never', 60].map((ttl) => [{ ...NAMESPACE, queue: 'q', ttl }, 'ttl', /1s to 49d/] as const),
  ...['0s', '5m'].map((timeout) => [{ ...NAMESPACE, queue: 'q', timeout }, 'timeout', /1ms|4m/] as const),
  [{ ...NAMESPACE, queue: 'q', transport: 'tcp' }, 'transport', /websocket/],
  [{ ...NAMESPACE, queue: 'q', proxy: 'http://p.test:3128' }, 'proxy', /transport: websocket/],
  [{ ...NAMESPACE, queue: 'q', transport: 'websocket', proxy: 'socks5://p.test' }, 'proxy', /http:\/\/host:port/],
  [{ ...NAMESPACE, queue: 'q', transport: 'websocket', proxy: 'http://hidden:x@p.test' }, 'proxy', /user or password/],
  [{ ...NAMESPACE, queue: 'q', transport: 'websocket', proxy: 'http://169.254.169.254' }, 'proxy', /metadata service/],
  [{ ...NAMESPACE, queue: 'q', tls: {} }, 'tls.ca', /./],
  [{ ...NAMESPACE, queue: 'q', credential: 'password' }, 'credential', /managed-identity/],
  [{ ...NAMESPACE, queue: 'q', credential: 'azure-cli', clientId: 'x' }, 'clientId', /has no effect with/],
  [{ ...BY_STRING, queue: 'q', credential: 'managed-identity' }, 'credential', /no effect with connectionString/],
  [{ ...BY_STRING, queue: 'q', clientId: 'x' }, 'clientId', /no effect with connectionString/],
  [{ connectionString: GOOD, queue: 'q' }, 'connectionString', /\{ env: NAME \}/],
  [{ ...NAMESPACE, queue: 'q', brokers: [] }, 'brokers', /./],
];

for (const [options, path, says] of FAULTS) {
  test(`${JSON.stringify(options).slice(0, 120)} is a fault of ${path}`, () => {
    const { issues } = v.safeParse(serviceBusOptions, options);
    assert.equal(issues?.length, 1);
    assert.equal(v.getDotPath(issues[0]), path);
    assert.match(issues[0].message, says);
    assert.doesNotMatch(issues[0].message, /hidden/);
  });
}

test('every good spelling is taken', () => {
  for (const options of [
    { ...NAMESPACE, queue: 'folder/sub_queue-1.x' },
    {
      namespace: 'my-ns.servicebus.chinacloudapi.cn',
      topic: 't',
      credential: 'managed-identity',
      clientId: '00000000-0000-0000-0000-000000000000',
    },
    {
      namespace: 'my-ns.servicebus.usgovcloudapi.net:5671',
      topic: 't',
      credential: 'client-secret',
      tenantId: 't',
      clientId: 'c',
      clientSecret: { env: 'S' },
    },
    {
      connectionString: { file: '/run/secrets/bus' },
      queue: 'q',
      sessions: true,
      attributePrefix: 'colon',
      timeout: '500ms',
    },
    {
      ...NAMESPACE,
      queue: 'q',
      transport: 'websocket',
      proxy: { env: 'PROXY' },
      tls: { ca: '/etc/ca.pem' },
      mode: 'structured',
    },
    { ...NAMESPACE, queue: 'q', ttl: 'untilNotBefore' },
    { ...NAMESPACE, queue: 'q', ttl: '49d', type: 'service-bus' },
  ])
    assert.ok(v.is(serviceBusOptions, options), JSON.stringify(options));
});

/** Values that only show once the connection string is open. */
const STRING_FAULTS: readonly (readonly [text: string, says: RegExp, options?: Readonly<Record<string, unknown>>])[] = [
  ['hidden', /Name=value/],
  ['SharedAccessKeyName=send;SharedAccessKey=hidden', /Endpoint/],
  [`Endpoint=sb://hidden.test/;${GOOD}`, /twice/],
  [GOOD.replace('sb://my-ns.servicebus.windows.net/', 'sb://127.0.0.1/x://evil.test'), /nothing after the host/],
  [GOOD.replace('sb://', 'sb://hidden@'), /Endpoint/],
  [GOOD.replace('sb://', 'https://'), /Endpoint/],
  [GOOD.replace(';SharedAccessKey=hidden=', ''), /SharedAccessKeyName and SharedAccessKey/],
  [`${GOOD};SharedAccessSignature=SharedAccessSignature sr=hidden`, /not both/],
  ['Endpoint=sb://a.test;SharedAccessSignature=sr=hidden', /begins with/],
  [`${GOOD};UseDevelopmentEmulator=true`, /only loopback/],
  [` ${GOOD} ; usedevelopmentemulator = true `, /only loopback/],
  [`${GOOD};UseDevelopmentEmulator=True`, /exactly/],
  [
    `${GOOD.replace('my-ns.servicebus.windows.net', 'localhost.evil.test')};UseDevelopmentEmulator=true`,
    /only loopback/,
  ],
  [
    `${GOOD.replace('my-ns.servicebus.windows.net', '127.0.0.1.evil.test')};UseDevelopmentEmulator=true`,
    /only loopback/,
  ],
  [`${GOOD};EntityPath=hidden`, /EntityPath that is not maintenance/],
  [
    `${GOOD.replace('my-ns.servicebus.windows.net', 'localhost')};UseDevelopmentEmulator=true`,
    /no WebSockets/,
    { transport: 'websocket' },
  ],
];

for (const [text, says, options] of STRING_FAULTS) {
  test(`the connection string ${JSON.stringify(text).slice(0, 130)} is a fault that repeats none of it`, () => {
    const parsed = v.parse(serviceBusOptions, { ...BY_STRING, queue: 'maintenance', ...options });
    openSecrets(parsed, { BUS: text });
    const [fault, ...more] = serviceBusSink.secretFaults?.(parsed) ?? [];
    assert.deepEqual([fault?.key, more], ['connectionString', []]);
    assert.match(fault?.message ?? '', says);
    assert.doesNotMatch(fault?.message ?? '', /hidden/);
    assert.throws(() => serviceBusSink.create(parsed, adapterDeps()), { code: 'BRIDGE_CONFIG_INVALID' });
  });
}

test('a connection string is read as it is meant: key or signature, entity, port, emulator', () => {
  assert.deepEqual(parseConnectionString(`${GOOD};EntityPath=q;TransportType=AmqpWebSockets;`), {
    endpoint: { host: 'my-ns.servicebus.windows.net', port: null },
    access: { name: 'send', key: 'hidden=' },
    entityPath: 'q',
    isEmulator: false,
  });
  assert.deepEqual(
    parseConnectionString(
      'endpoint=sb://[::1]:5673 ; SharedAccessSignature=SharedAccessSignature sr=x&sig=y ; UseDevelopmentEmulator=true',
    ),
    {
      endpoint: { host: '::1', port: 5673 },
      access: { signature: 'SharedAccessSignature sr=x&sig=y' },
      entityPath: null,
      isEmulator: true,
    },
  );
});

test('an EntityPath that names the queue, in any letter case, agrees with it', () => {
  const parsed = v.parse(serviceBusOptions, { ...BY_STRING, queue: 'maintenance' });
  openSecrets(parsed, { BUS: `${GOOD};EntityPath=Maintenance` });
  assert.deepEqual(serviceBusSink.secretFaults?.(parsed), []);
});
