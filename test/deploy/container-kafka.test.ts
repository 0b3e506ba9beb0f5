// The configuration of the demo of deploy/container/ → the image with it, beside a real Kafka.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { Cluster } from '../far-sides/kafka/cluster.ts';
import { readTopic } from '../far-sides/kafka/records.ts';
import { freePorts, localSimulator } from '../far-sides/simulator-server.ts';
import { poll } from '../support/poll.ts';
import { builtImage, noContainer } from './built-image.ts';
import { Podman } from './podman.ts';

const options = { skip: noContainer, timeout: 300_000 };

test(
  'the configuration of the demo sends an event to a topic of a real Kafka, and creates the topic',
  options,
  async (t) => {
    const [azure, kafka, health] = [await localSimulator(t), await Cluster.start(t), await freePorts()];
    const demo = parse(readFileSync(join(import.meta.dirname, '../../deploy/container/bridge.yaml'), 'utf8'));
    demo.metadata.endpoint = azure.url;
    demo.http = { listen: '127.0.0.1:0', health: `127.0.0.1:${health}` };
    demo.sinks.stream.brokers = kafka.addresses();
    using podman = new Podman();
    podman.run('load', '--quiet', '--input', await builtImage(new Date(0)));
    podman.bridge(t, 'demo', demo);
    const { EventId } = azure.schedule({ EventType: 'Reboot' });
    const id = `${EventId.toLowerCase()}:scheduled`;
    const records = () => readTopic(kafka.addresses(), 'maintenance').catch(() => []);
    const isThere = async () => (await records()).some(({ headers }) => headers.some(([, value]) => value === id));
    await poll(isThere, () => podman.try('logs', 'demo').stderr, 60_000);
  },
);
