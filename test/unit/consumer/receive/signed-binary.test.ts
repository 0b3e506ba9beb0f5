// A signed delivery sent again with other headers → refused, or dropped as a repeat; `modes`.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import type { CloudEvent } from '../../../../src/consumer/event.ts';
import { dispatcherOn } from '../../../../src/consumer/receive/dispatcher.ts';
import { memoryHandledStore } from '../../../../src/consumer/receive/handled-store.ts';
import type { Handlers } from '../../../../src/consumer/receive/handlers.ts';
import type { DeliveryMode } from '../../../../src/consumer/receive/http-event.ts';
import { type ReceiverOptions, receiverOn } from '../../../../src/consumer/receive/receiver.ts';
import type { Change } from '../../../../src/model/events.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { approvalChange, sightChange } from '../../cloudevents/changes.ts';
import { drillLife, everyChange, lifeOf, post, requestOf, SECRET } from '../deliveries.ts';

const PREFIX = 'io.github.scheduled-events-bridge';
const life = lifeOf();
const BINARY = { 'content-type': 'application/json', 'ce-specversion': '1.0', 'ce-source': '/forged' };

/** A receiver of signed deliveries, and the handlers that ran for each id. */
function fixture(options: Partial<ReceiverOptions> = {}) {
  const time = new VirtualTime();
  const ran: string[] = [];
  const names: readonly (keyof Handlers)[] = [
    'onScheduled',
    'onStarted',
    'onUpdated',
    'onEnded',
    'onSourceBlind',
    'onOther',
  ];
  const handlers = Object.fromEntries(
    names.map((name) => [name, ({ id }: CloudEvent) => void ran.push(`${name} ${id}`)]),
  );
  const dispatcher = dispatcherOn(handlers, memoryHandledStore({}, time));
  const receiver = receiverOn({ secrets: SECRET, dispatcher, onError: () => {}, ...options } as ReceiverOptions, time);
  const captured = (mode: DeliveryMode, change: Change = life.scheduled) =>
    requestOf([change], { mode, wallMs: time.wallMs(), secrets: [SECRET] });
  /** Sends the same body and signature with other headers; an empty text removes one. */
  const again = async (request: Request, headers: Readonly<Record<string, string>>) => {
    const all = { ...Object.fromEntries(request.headers), ...headers };
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    const { status } = await receiver(post(new Uint8Array(await request.clone().arrayBuffer()), kept));
    return status;
  };
  return { ran, dispatcher, captured, again, receive: async (request: Request) => (await receiver(request)).status };
}

for (const [what, type] of [
  ['its own type', `${PREFIX}.scheduled.v1`],
  ['the type of another change', `${PREFIX}.started.v1`],
  ['another type', 'com.example.lunch'],
  ['the change under another prefix', 'com.example.scheduled.v1'],
] as const) {
  for (const contentType of ['application/json', 'text/plain', '']) {
    test(`a structured delivery sent again as binary with ${what} and ${contentType || 'no content type'} is refused`, async () => {
      const { ran, captured, again } = fixture();
      const request = captured('structured');
      const id = request.headers.get('webhook-id') as string;
      assert.equal(await again(request, { ...BINARY, 'content-type': contentType, 'ce-id': id, 'ce-type': type }), 400);
      assert.deepEqual(ran, []);
    });
  }
}

for (const type of [`${PREFIX}.scheduled.v1`, 'com.example.lunch']) {
  test(`a batch sent again as one binary event of type ${type} is refused`, async () => {
    const { ran, captured, again } = fixture();
    const request = captured('batch');
    const id = request.headers.get('webhook-id') as string;
    assert.equal(await again(request, { ...BINARY, 'ce-id': id, 'ce-type': type }), 400);
    assert.deepEqual(ran, []);
  });
}

for (const [from, as] of [
  ['structured', 'batch'],
  ['batch', 'structured'],
  ['binary', 'structured'],
  ['binary', 'batch'],
] as const) {
  test(`a delivery in ${from} mode sent again in ${as} mode is refused`, async () => {
    const { ran, captured, again } = fixture();
    const contentType = `application/cloudevents${as === 'batch' ? '-batch' : ''}+json`;
    assert.equal(await again(captured(from), { 'content-type': contentType }), 400);
    assert.deepEqual(ran, []);
  });
}

test('a binary delivery with the type of any other change is refused', async () => {
  const types = everyChange().map(({ id }) => id);
  assert.equal(new Set(types).size, 9);
  for (const change of everyChange()) {
    const { ran, captured, again } = fixture();
    const request = captured('binary', change);
    const own = request.headers.get('ce-type');
    for (const other of [
      'scheduled',
      'started',
      'updated',
      'ended',
      'approval.failed',
      'approval.submitted',
      'source.blind',
    ])
      if (own !== `${PREFIX}.${other}.v1`)
        assert.equal(await again(request, { 'ce-type': `${PREFIX}.${other}.v1` }), 400, other);
    assert.deepEqual(ran, []);
  }
});

test('a real maintenance sent again as a drill is refused, and a drill sent again as real, too; the originals are accepted', async () => {
  const shown: (boolean | undefined)[] = [];
  const handlers = { onScheduled: ({ isDrill }: CloudEvent) => void shown.push(isDrill) };
  const dispatcher = dispatcherOn(handlers, memoryHandledStore({}, new VirtualTime()));
  const { captured, again, receive } = fixture({ dispatcher } as Partial<ReceiverOptions>);
  const [real, drill] = [captured('binary'), captured('binary', drillLife().scheduled)];
  assert.equal(drill.headers.get('ce-drill'), 'true');
  assert.equal(await again(real, { 'ce-drill': 'true' }), 400);
  for (const header of ['', 'false']) assert.equal(await again(drill, { 'ce-drill': header }), 400);
  assert.deepEqual(shown, []);
  assert.deepEqual([await receive(real), await receive(drill)], [204, 204]);
  assert.deepEqual(shown, [false, true]);
});

for (const [header, value, change] of [
  ['ce-subject', 'scheduledevents/another', life.scheduled],
  ['ce-partitionkey', 'another', life.scheduled],
  ['ce-correlationid', 'another', life.scheduled],
  ['ce-impact', 'reboot', life.scheduled],
  ['ce-initiator', 'user', life.scheduled],
  ['ce-expirytime', '2022-04-12T22:26:58Z', life.scheduled],
  ['ce-expirytime', '2022-04-11T22:26:58Z', life.started],
  ['ce-outcome', 'canceled', life.ended()],
  ['ce-outcome', 'completed', life.started],
  ['ce-partitionkey', 'another', approvalChange()],
  ['ce-subject', 'scheduledevents/another', sightChange()],
] as const) {
  test(`a binary delivery of ${change.phase} with ${header}: ${value} is refused, because it contradicts the signed data`, async () => {
    const { ran, captured, again, receive } = fixture();
    const request = captured('binary', change);
    assert.equal(await again(request, { [header]: value }), 400);
    assert.deepEqual(ran, []);
    assert.equal(await receive(request), 204);
  });
}

test('unusual letters of the service are accepted unchanged', async () => {
  const { captured, receive } = fixture();
  for (const [eventId, eventType, eventSource] of [
    ['Odd Id', 'Größe 😀', 'PLATFORM'],
    ['X'.repeat(100), '', ''],
    ['İstanbul', 'İ', 'ẞ'],
    [' "x" ', ' Reboot ', '"User"'],
    ['a', 'a\u0007b', 'a\u0085'],
  ] as const) {
    const odd = lifeOf({ eventId, eventType, eventSource });
    for (const change of [odd.scheduled, odd.started, odd.ended()])
      assert.equal(await receive(captured('binary', change)), 204, eventType);
  }
});

test('a signed event of another type is accepted, whatever its attributes and data mean', async () => {
  const { ran, captured, again } = fixture();
  const foreign = {
    'ce-type': 'com.example.scheduled.v1',
    'ce-subject': 'orders/1',
    'ce-impact': 'none',
    'ce-partitionkey': '7',
  };
  assert.equal(await again(captured('binary'), foreign), 204);
  assert.equal(ran.length, 1);
});

test('a copy with another prefix or version that comes first does not replace the original', async () => {
  for (const type of ['com.example.scheduled.v1', `${PREFIX}.scheduled.v9`]) {
    const { ran, captured, again, receive } = fixture();
    const request = captured('binary');
    const id = request.headers.get('ce-id');
    assert.equal(await again(request, { 'ce-type': type }), 204);
    assert.equal(await again(request, { 'ce-type': 'com.example.other.scheduled.v1', 'ce-source': '/forged' }), 204);
    assert.equal(await receive(request), 204);
    assert.deepEqual(ran, [`onOther ${id}`, `onScheduled ${id}`]);
  }
});

for (const mode of ['structured', 'binary', 'batch'] as const) {
  test(`in ${mode} mode a source that is not in sources is refused with 403, and one in sources is accepted`, async () => {
    const own = '/subscriptions/s/resourcegroups/g';
    const { ran, captured, receive } = fixture({ sources: ['/another', own] });
    const strict = fixture({ sources: ['/another'] });
    assert.equal(await strict.receive(strict.captured(mode)), 403);
    assert.equal(await receive(captured(mode)), 204);
    assert.deepEqual([ran.length, strict.ran.length], [1, 0]);
  });
}

for (const sources of [[], '/s', ['']] as unknown as readonly string[][]) {
  test(`sources of ${JSON.stringify(sources)} are refused`, () => {
    assert.throws(
      () => fixture({ sources }),
      (error) => error instanceof ConsumerError && error.code === 'usage' && /sources/.test(error.message),
    );
  });
}

test('every change in binary mode is accepted with its own type, also with a repeat number in its id', async () => {
  const { captured, receive } = fixture();
  for (const change of everyChange()) {
    assert.equal(await receive(captured('binary', change)), 204);
    assert.equal(await receive(captured('binary', { ...change, id: `${change.id}:r2` })), 204);
  }
});

test('a binary delivery with another source is always a repeat', async () => {
  const { ran, captured, again, receive } = fixture();
  const request = captured('binary');
  assert.equal(await receive(request.clone() as Request), 204);
  for (const source of ['/a', '/b', '/c']) assert.equal(await again(request, { 'ce-source': source }), 204);
  assert.deepEqual(ran, [`onScheduled ${request.headers.get('ce-id')}`]);
});

test('an event that came through a topic before is a repeat in binary mode, with any source', async () => {
  const { ran, dispatcher, captured, again, receive } = fixture();
  const request = captured('binary');
  const { id, source } = {
    id: request.headers.get('ce-id') as string,
    source: request.headers.get('ce-source') as string,
  };
  await dispatcher.handle({ specversion: '1.0', id, source, type: `${PREFIX}.scheduled.v1`, data: {} });
  assert.equal(await receive(request.clone() as Request), 204);
  assert.equal(await again(request, { 'ce-source': '/forged' }), 204);
  assert.deepEqual(ran, [`onScheduled ${id}`]);
});

test('in structured mode, events of two sources with the same id are two events', async () => {
  const { ran, dispatcher } = fixture();
  for (const source of ['/a', '/b'])
    await dispatcher.handle({ specversion: '1.0', id: '1', source, type: 'com.example.any', data: {} });
  assert.equal(ran.length, 2);
});

test('a mode that is not in modes is refused with 415, also if it is signed', async () => {
  const taken = async (modes: readonly DeliveryMode[]) => {
    const { captured, receive } = fixture({ modes });
    return await Promise.all((['structured', 'binary', 'batch'] as const).map((mode) => receive(captured(mode))));
  };
  assert.deepEqual(await taken(['structured']), [204, 415, 415]);
  assert.deepEqual(await taken(['binary', 'batch']), [415, 204, 204]);
});

for (const modes of [[], ['cloudevents'], 'structured'] as unknown as readonly DeliveryMode[][]) {
  test(`modes of ${JSON.stringify(modes)} are refused`, () => {
    assert.throws(
      () => fixture({ modes }),
      (error) =>
        error instanceof ConsumerError && error.code === 'usage' && /structured, binary, batch/.test(error.message),
    );
  });
}
