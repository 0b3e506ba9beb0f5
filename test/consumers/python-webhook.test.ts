// docs/receive/examples/python/webhook_receiver.py → all maintenances, bad input.
import { test } from 'node:test';
import { playAll } from './play.ts';
import { pythonProgram, withoutPython } from './python.ts';
import { webhookChannel } from './webhook-channel.ts';

test('the webhook receiver in Python lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutPython,
}, async (t) => {
  await playAll(t, pythonProgram('webhook_receiver.py'), await webhookChannel(t));
});
