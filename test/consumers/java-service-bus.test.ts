// docs/receive/examples/java/ → ServiceBusMaintenance.java in all maintenances, with bad input.
import { test } from 'node:test';
import { javaProgram, withoutJava } from './java.ts';
import { playAll } from './play.ts';
import { serviceBusChannel } from './service-bus-channel.ts';

test('the Service Bus consumer in Java lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutJava,
}, async (t) => {
  await playAll(t, await javaProgram(t, 'ServiceBusMaintenance'), await serviceBusChannel(t));
});
