// Messages as the SDK gives them, odd ones by hand → bytes, and ids that tell them apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import { sourceEntityOf } from '../../../../../adapters/service-bus/options/service-bus-source-options.ts';
import { approvalMessage } from '../../../../../adapters/service-bus/source/link-messages.ts';

const ENTITY = sourceEntityOf({ queue: 'q', sessions: false, transport: 'amqp', timeout: 10_000 });
const NOW = 1_000_000;

function received(over: Readonly<Record<string, unknown>>) {
  const sequenceNumber = { toString: () => '36028797018963969' };
  const message = { body: Buffer.from('{}'), sequenceNumber, enqueuedTimeUtc: new Date(5000), messageId: 'm', ...over };
  return approvalMessage(message as unknown as ServiceBusReceivedMessage, ENTITY, NOW);
}

test('the id is that of number, time and message id, so that a queue that was made anew gives others', () => {
  assert.equal(received({}).id, '36028797018963969:5000:m');
  assert.equal(received({ deliveryCount: 5 }).id, received({}).id);
  const others = [{ sequenceNumber: { toString: () => '2' } }, { enqueuedTimeUtc: new Date(5001) }, { messageId: 'n' }];
  assert.equal(new Set([{}, ...others].map((over) => received(over).id)).size, 4);
});

test('numbers of partitioned entities are told whole, and ids of other types as text', () => {
  for (const [messageId, text] of [
    [7, '7'],
    [Buffer.from([1, 255]), '01ff'],
    ['x'.repeat(500), 'x'.repeat(128)],
  ])
    assert.equal(received({ messageId }).id, `36028797018963969:5000:${text}`);
});

test('its place is where the service put it, without a word of the sender’s', () => {
  assert.deepEqual(received({}).place, { queue: 'q', sequenceNumber: '36028797018963969' });
});

test('a message without a time counts as sent now, by an id without it', () => {
  const { sentMs, id } = received({ enqueuedTimeUtc: undefined, messageId: undefined });
  assert.deepEqual([sentMs, id], [NOW, '36028797018963969::']);
});

test('several data sections are one body', () => {
  assert.deepEqual(received({ body: [Buffer.from('{"a"'), Buffer.from(':1}')] }).body, Buffer.from('{"a":1}'));
});

for (const body of [undefined, null, 7, true, [], [1], [Buffer.from('a'), 'b'], { StartRequests: [] }, new Date(0)]) {
  test(`a body that is ${JSON.stringify(body)} is none`, () => {
    assert.equal(received({ body }).body, null);
  });
}
