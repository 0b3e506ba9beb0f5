// As bare-turns.ts, with brokers and topic → a bare kafkajs `send` with acks=all for each document.
import kafkajs from 'kafkajs';
import { takeTurns } from './bare-turns.ts';

const [, , , brokers = '', topic = ''] = process.argv.slice(2);
const client = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
const producer = client.producer({
  allowAutoTopicCreation: false,
  createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
});
/** As many, and as long, as those of such a change. */
const headers = Object.fromEntries(
  Array.from({ length: 16 }, (_, index) => [`ce_attribute${index}`, 'an attribute of some length']),
);

await producer.connect();
await takeTurns((value) => producer.send({ topic, acks: -1, messages: [{ key: 'key', value, headers }] }));
