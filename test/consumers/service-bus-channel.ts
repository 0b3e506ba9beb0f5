// A test → a subscription with sessions, a queue, and a sender of messages that no bridge sends.
import type { TestContext } from 'node:test';
import type { ServiceBusMessage } from '@azure/service-bus';
import { sdkClient } from '../far-sides/service-bus/sdk-client.ts';
import { type ServiceBusServer, serviceBusServer } from '../far-sides/service-bus/service-bus-server.ts';
import { poll } from '../support/poll.ts';
import { type Channel, hollow, SCHEDULED } from './channel.ts';

export interface ServiceBusChannel extends Channel {
  readonly server: ServiceBusServer;
}

/** Locks last for the five seconds that Azure allows at least, so a program that does not renew them loses them. */
export async function serviceBusChannel(t: TestContext): Promise<ServiceBusChannel> {
  const server = await serviceBusServer(t);
  server.topic('maintenance').subscription('orders', { sessions: true, lockDuration: '5s' });
  server.queue('approvals', { maxDeliveryCount: 100 });
  const sender = sdkClient(server).createSender('maintenance');
  const connectionString = { env: 'SERVICE_BUS' };
  return {
    name: 'service-bus',
    server,
    sections: {
      sinks: { out: { type: 'service-bus', connectionString, topic: 'maintenance', sessions: true } },
      approvals: {
        approvers: { orders: {}, admin: { token: { env: 'ADMIN_TOKEN' }, admin: true } },
        sources: { in: { type: 'service-bus', connectionString, queue: 'approvals', approver: 'orders' } },
      },
    },
    bridgeEnv: { SERVICE_BUS: server.connectionString },
    programEnv: {
      SERVICE_BUS: server.connectionString,
      TOPIC: 'maintenance',
      SUBSCRIPTION: 'orders',
      APPROVALS: 'approvals',
    },
    async send(event) {
      const contentType = 'application/cloudevents+json; charset=utf-8';
      await sender.sendMessages({ body: event, contentType, sessionId: String(event['partitionkey'] ?? 'none') });
    },
    // Azure and the SDKs wait for a session for a minute at most. The second wait is ended for certain: it began
    // before.
    async idle() {
      const attaches = () => server.contacts('attach').length;
      const before = attaches();
      server.clock.advance('61s');
      await poll(() => attaches() > before, 'the program to wait for a session');
      server.clock.advance('61s');
    },
    async sendUnreadable() {
      const binary = { cloudEvents_specversion: '1.0', cloudEvents_type: 'x', cloudEvents_source: '/x' };
      const structured = { contentType: 'application/cloudevents+json' };
      const messages: ServiceBusMessage[] = [
        { body: { text: 'hello' } },
        { ...structured, body: [1] },
        { ...structured, body: hollow() },
        { body: {}, contentType: 'application/json', applicationProperties: binary }, // no id
        {
          body: Buffer.from([0xff, 0xfe]),
          applicationProperties: { ...binary, cloudEvents_id: '1', cloudEvents_type: SCHEDULED },
        },
      ];
      await sender.sendMessages(messages.map((message) => ({ ...message, sessionId: 'foreign' })));
      return messages.length;
    },
  };
}
