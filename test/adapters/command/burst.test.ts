// 1,000 events at once, hostile texts in every field → bounded programs, and nothing interpreted.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { sampleDelivery } from '../sample-deliveries.ts';
import { eventDelivery, never, Scripts, startCommand } from './start-command.ts';

const HOSTILE = [
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned',
  '| touch pwned',
  '--help',
  '\'"\\',
  'a\nb\r\n\tc',
  '%PATH%',
  '\u001b[2J',
  '*',
  '',
];

test('texts of an event reach the program as they are, in every field, and nothing interprets them', async (t) => {
  const scripts = new Scripts(t);
  const run = [
    scripts.write(
      'run',
      'printf "%s\\0" "$EVENT_ID" "$EVENT_TYPE" "$EVENT_SOURCE" "$CE_SUBJECT" "$CE_HOSTILE" "$1" > seen',
    ),
    '$(touch pwned)',
  ];
  const { deliver } = startCommand(t, scripts, { run });
  for (const text of HOSTILE) {
    const data = { eventId: text, eventType: text, eventSource: text, resources: [text] };
    assert.equal(await deliver(eventDelivery('scheduled', data, { subject: text, hostile: text })), 'accepted');
    assert.deepEqual(scripts.read('seen')?.split('\0'), [text, text, text, text, text, '$(touch pwned)', '']);
  }
  assert.equal(scripts.read('pwned'), null);
});

test('a field with NUL is left out with a warning, and the program runs', async (t) => {
  const scripts = new Scripts(t);
  const { deliver, logged } = startCommand(t, scripts, {
    run: [scripts.write('run', 'env | grep -c ^EVENT_TYPE= > seen; exit 0')],
  });
  assert.equal(await deliver(eventDelivery('scheduled', { eventType: 'a\0b' })), 'accepted');
  assert.equal(scripts.read('seen'), '0\n');
  assert.ok(logged().some(({ level, variables }) => level === 40 && String(variables) === 'EVENT_TYPE'));
});

test('as many programs run at once as the lane requests, each with its own environment', async (t) => {
  const scripts = new Scripts(t);
  const { adapter } = startCommand(t, scripts, {
    run: [scripts.write('run', ': > "ran.$CE_PARTITIONKEY"')],
    concurrency: 3,
  });
  assert.equal(adapter.limits.inFlight, 3);
  const left = Array.from({ length: 60 }, (_, seq) => sampleDelivery({ seq, partitionKey: `key-${seq}` }));
  const lane = async () => {
    for (let next = left.pop(); next; next = left.pop())
      assert.deepEqual(await adapter.deliver([next], never), ['accepted']);
  };
  await Promise.all([lane(), lane(), lane()]);
  assert.equal(readdirSync(scripts.folder).filter((name) => name.startsWith('ran.')).length, 60);
});
