// As bare-turns.ts, with a connection string and a queue → a bare `sendMessages` for each document.
import { ServiceBusClient } from '@azure/service-bus';
import { takeTurns } from './bare-turns.ts';

const [, , , connection = '', queue = ''] = process.argv.slice(2);
const client = new ServiceBusClient(connection);
const sender = client.createSender(queue);
/** As many, and as long, as those of such a change. */
const applicationProperties = Object.fromEntries(
  Array.from({ length: 16 }, (_, index) => [`cloudEvents_attribute${index}`, 'an attribute of some length']),
);

await sender.createMessageBatch();
let sent = 0;
await takeTurns((body) =>
  sender.sendMessages({
    body,
    contentType: 'application/json',
    messageId: String(sent++),
    partitionKey: 'key',
    applicationProperties,
  }),
);
