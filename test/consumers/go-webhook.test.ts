// docs/receive/examples/go/ → every maintenance and bad input by webhook.
import { test } from 'node:test';
import { goProgram, withoutGo } from './go.ts';
import { playAll } from './play.ts';
import { webhookChannel } from './webhook-channel.ts';

test('the webhook receiver in Go lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutGo,
}, async (t) => {
  await playAll(t, goProgram(t, 'webhook'), await webhookChannel(t));
});
