// A test → topics of the real broker, and a producer of records that no bridge writes.
import type { TestContext } from 'node:test';
import kafkajs from 'kafkajs';
import { readTopic } from '../far-sides/kafka/records.ts';
import { sharedKafka } from '../far-sides/kafka/shared-kafka.ts';
import { type Channel, hollow, SCHEDULED } from './channel.ts';

/** The group and its instance are the test's own. */
export async function kafkaChannel(t: TestContext): Promise<Channel> {
  const kafka = await sharedKafka(t);
  const brokers = [...kafka.brokers];
  const [topic, approvals] = [await kafka.createTopic({ partitions: 3 }), await kafka.createTopic()];
  const client = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  t.after(() => producer.disconnect());
  const write = async (messages: kafkajs.Message[]): Promise<void> => {
    await producer.send({ topic, messages, acks: -1 });
  };
  return {
    name: 'kafka',
    sections: {
      sinks: { out: { type: 'kafka', brokers, topic } },
      approvals: {
        approvers: { orders: {}, admin: { token: { env: 'ADMIN_TOKEN' }, admin: true } },
        sources: { in: { type: 'kafka', brokers, topic: approvals, approver: 'orders' } },
      },
    },
    listens: 'it starts at the end of the topic',
    bridgeEnv: {},
    programEnv: { BROKERS: brokers.join(), TOPIC: topic, GROUP: kafka.uniqueName('group'), APPROVALS: approvals },
    send: async (event) => {
      const headers = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
      await write([{ key: String(event['partitionkey'] ?? 'none'), headers, value: JSON.stringify(event) }]);
    },
    approvals: async () => (await readTopic(brokers, approvals)).map(({ value }) => value ?? ''),
    async sendUnreadable() {
      const structured = { 'content-type': 'application/cloudevents+json' };
      const binary = { 'content-type': 'application/json', ce_specversion: '1.0', ce_type: 'x', ce_source: '/x' };
      const messages: kafkajs.Message[] = [
        { value: 'hello' },
        { key: 'tombstone', value: null },
        { headers: structured, value: '{"specversion":' },
        { headers: structured, value: '[1]' },
        { headers: structured, value: JSON.stringify(hollow()) },
        { headers: binary, value: '{}' }, // no id
        { headers: { ...binary, ce_id: '1', ce_type: SCHEDULED }, value: Buffer.from([0xff, 0xfe]) },
      ];
      await write(messages);
      return messages.length;
    },
  };
}
