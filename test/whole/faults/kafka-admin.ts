// Addresses of brokers → an operator's connected admin client.
import type { TestContext } from 'node:test';
import type { Admin } from 'kafkajs';
import { kafkaClients } from '../../../adapters/kafka/client/kafka-client.ts';
import { adapterDeps } from '../../adapters/adapter-deps.ts';

/** @param addresses `127.0.0.1:PORT` of each broker; the client disconnects at the end of the test */
export async function kafkaAdmin(t: TestContext, addresses: readonly string[]): Promise<Admin> {
  const brokers = addresses.map((address) => ({ host: '127.0.0.1', port: Number(address.split(':')[1]) }));
  const client = await kafkaClients(
    { clientId: 'operator', allowInsecure: false, brokers },
    adapterDeps(),
    'sinks.operator',
  )();
  const admin = client.admin();
  t.after(() => admin.disconnect());
  await admin.connect();
  return admin;
}
