// docs/receive/examples/python/service_bus_consumer.py → all maintenances, bad input.
import { test } from 'node:test';
import { playAll } from './play.ts';
import { pythonProgram, withoutPython } from './python.ts';
import { serviceBusChannel } from './service-bus-channel.ts';

test('the Service Bus consumer in Python lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutPython,
}, async (t) => {
  await playAll(t, pythonProgram('service_bus_consumer.py'), await serviceBusChannel(t));
});
