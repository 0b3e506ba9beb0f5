// docs/receive/examples/java/ → WebhookMaintenance.java in all maintenances, with bad input.
import { test } from 'node:test';
import { javaProgram, withoutJava } from './java.ts';
import { playAll } from './play.ts';
import { webhookChannel } from './webhook-channel.ts';

test('the webhook receiver in Java lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutJava,
}, async (t) => {
  await playAll(t, await javaProgram(t, 'WebhookMaintenance'), await webhookChannel(t));
});
