// What the configuration may say of a Service Bus source, and what is told of what it may not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { serviceBusSource } from '../../../../../adapters/service-bus/source/service-bus-source.ts';
import { openSecrets } from '../../../../adapters/contract.ts';

const NAMESPACE = { namespace: 'my-ns.servicebus.windows.net' };

function faultsOf(options: object): string[] {
  const { issues = [] } = v.safeParse(serviceBusSource.options, options);
  return issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`);
}

test('a queue is shared by its readers, and a subscription is of one bridge, unless it says otherwise', () => {
  const readersOf = (options: object) =>
    serviceBusSource.readersOf(v.parse(serviceBusSource.options, { ...NAMESPACE, ...options }));
  const subscription = { topic: 't', subscription: 's' };
  assert.deepEqual(
    [
      { queue: 'q' },
      { queue: 'q', readers: 'one' },
      subscription,
      { ...subscription, readers: 'one' },
      { ...subscription, readers: 'each' },
    ].map(readersOf),
    ['one', 'one', 'each', 'one', 'each'],
  );
});

const ROWS: readonly (readonly [options: object, fault: RegExp])[] = [
  [{}, /^queue is missing: set queue, or topic and subscription$/],
  [{ queue: 'q', topic: 't', subscription: 's' }, /^topic cannot be combined with queue/],
  [{ topic: 't' }, /^subscription is missing: the messages of a topic are read from a subscription$/],
  [{ queue: 'q', subscription: 's' }, /^subscription has no effect with queue/],
  [
    { queue: 'q', readers: 'each' },
    /^readers cannot be each for a queue.*use a topic with a subscription for each bridge/,
  ],
  [{ queue: 'q', readers: 'some' }, /^readers must be each or one$/],
  [{ queue: '/q' }, /^queue must be the name of a queue or topic$/],
  [{ topic: 't', subscription: 'a/b' }, /^subscription must be the name of a subscription$/],
  [{ topic: 't', subscription: 'x'.repeat(51) }, /^subscription must have at most 50 characters$/],
  [{ queue: 'q', mode: 'binary' }, /^mode /],
  [{ queue: 'q', connectionString: { env: 'BUS' } }, /^connectionString cannot be combined with namespace/],
];

for (const [options, fault] of ROWS) {
  test(`options ${JSON.stringify(options)} are refused`, () => {
    const faults = faultsOf({ ...NAMESPACE, ...options });
    assert.ok(
      faults.some((text) => fault.test(text)),
      faults.join('\n'),
    );
  });
}

test('two sources read one place if namespace and entity are the same, in any spelling', () => {
  const streamsOf = (options: object) => {
    const parsed = v.parse(serviceBusSource.options, options);
    openSecrets(parsed, {
      BUS: 'Endpoint=sb://My-ns.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0',
    });
    return serviceBusSource.streamsOf(parsed);
  };
  const queue = streamsOf({ ...NAMESPACE, queue: 'q' });
  assert.deepEqual(queue, ['my-ns.servicebus.windows.net q']);
  assert.deepEqual(streamsOf({ connectionString: { env: 'BUS' }, queue: 'Q' }), queue);
  const subscriptions = ['s', 'S', 'other'].flatMap((subscription) =>
    streamsOf({ ...NAMESPACE, topic: 't', subscription }),
  );
  assert.deepEqual([subscriptions.length, new Set(subscriptions).size], [3, 2]);
});

test('a connection string of another queue is told without its key', () => {
  const options = v.parse(serviceBusSource.options, {
    connectionString: { env: 'BUS' },
    topic: 't',
    subscription: 's',
  });
  const faultsWith = (path: string) => {
    const BUS = `Endpoint=sb://my-ns.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0;EntityPath=${path}`;
    openSecrets(options, { BUS });
    return serviceBusSource.secretFaults?.(options);
  };
  assert.deepEqual(faultsWith('t'), []);
  const [fault, ...more] = faultsWith('q') ?? [];
  assert.deepEqual([fault?.key, more], ['connectionString', []]);
  assert.match(fault?.message ?? '', /EntityPath that is not t/);
  assert.doesNotMatch(fault?.message ?? '', /c2VjcmV0/);
});
