// A local broker → how long a change takes until every replica has it beside a bare send, what 1,000 at once take, and what a Kafka sink costs while it has nothing to do.
import { Cluster } from '../support/kafka/cluster.ts';
import { noDistribution } from '../support/kafka/distribution.ts';
import { noReader } from '../support/kafka/records.ts';
import type { Row } from './figures.ts';
import { kafkaBurst } from './kafka-burst.ts';
import { kafkaIdle } from './kafka-idle.ts';
import { kafkaLatency } from './kafka-latency.ts';

export async function kafka(): Promise<readonly Row[]> {
  const reason = noDistribution() || noReader();
  if (reason) return [{ what: 'Kafka', figure: `not measured: ${reason}`, goal: '' }];
  await using cluster = await Cluster.launch();
  return [...(await kafkaLatency(cluster)), ...(await kafkaBurst(cluster)), ...(await kafkaIdle(cluster))];
}
