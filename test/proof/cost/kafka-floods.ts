// Answers of Kafka's protocol that are longer, more or slower than any client needs → a broker.
import type { TestContext } from 'node:test';
import { type Script, ScriptedBroker } from '../../far-sides/kafka/scripted-broker.ts';
import { int32 } from '../../far-sides/kafka/wire.ts';

const MIB = 1024 * 1024;

/** A list of as many members as a length can say, of which few come. */
const FLOODS: readonly ((correlationId: number) => readonly Buffer[])[] = [
  (id) => [int32(2 ** 31 - 1), int32(id), ...Array.from({ length: 16 }, () => Buffer.alloc(MIB))],
  (id) => [int32(8 * MIB), int32(id), Buffer.from([0, 0]), int32(2 ** 31 - 1), Buffer.alloc(8 * MIB - 10)],
  () => [Buffer.alloc(MIB, 0xff)],
  () => Array.from({ length: 1000 }, () => int32(0)),
  () => [],
];

/** Each connection learns the versions, and is then answered with the next flood. */
export async function kafkaFloods(t: TestContext): Promise<{ readonly port: number; readonly did: () => string }> {
  const broker = await ScriptedBroker.start(t);
  let given = 0;
  const script: Script = ({ api, correlationId }) =>
    api === 'apiVersions' ? undefined : FLOODS[given++ % FLOODS.length]?.(correlationId);
  broker.script = script;
  return { port: broker.port, did: () => `${given} answers` };
}
