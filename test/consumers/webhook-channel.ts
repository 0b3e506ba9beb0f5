// A test → a port for a webhook, and deliveries to it: signed, wrongly signed, unreadable.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { freePorts } from '../far-sides/simulator-server.ts';
import { poll } from '../support/poll.ts';
import { hook, TOKEN } from '../support/running-bridge.ts';
import { OTHER_SECRET, SECRET } from '../unit/consumer/deliveries.ts';
import { type Channel, unreadableBodies } from './channel.ts';

/** The program listens on the port, at any path. */
export async function webhookChannel(_t: TestContext): Promise<Channel> {
  const port = await freePorts();
  const url = `http://127.0.0.1:${port}/maintenance`;
  const structured = 'application/cloudevents+json; charset=utf-8';

  async function post(
    body: string,
    { secret = SECRET, type = structured, id = `sent-${body.length}` } = {},
  ): Promise<number> {
    const at = new Date();
    const signature = new Webhook(secret).sign(id, at, body);
    const stamp = `${Math.floor(at.getTime() / 1000)}`;
    const headers = {
      'content-type': type,
      'webhook-id': id,
      'webhook-timestamp': stamp,
      'webhook-signature': signature,
    };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }

  return {
    name: 'webhook',
    sections: {
      sinks: { out: hook(url, { secrets: [{ env: 'HOOK_SECRET' }] }) },
      approvals: {
        approvers: {
          orders: { token: { env: 'ORDERS_TOKEN' } },
          admin: { token: { env: 'ADMIN_TOKEN' }, admin: true },
        },
      },
    },
    bridgeEnv: { HOOK_SECRET: SECRET, ORDERS_TOKEN: TOKEN },
    programEnv: { HOOK_SECRET: SECRET, BRIDGE_TOKEN: TOKEN, PORT: `${port}` },
    async send(event) {
      const body = JSON.stringify(event);
      const accepted = async () => {
        const status = await post(body, { id: String(event['id']) }).catch(() => 0);
        assert.ok(status === 0 || status < 300, `the program answered ${status} to ${body}`);
        return status > 0;
      };
      await poll(accepted, 'the program to accept a delivery');
    },
    async sendUnreadable() {
      const signed = JSON.stringify({ specversion: '1.0', id: '1', type: 'x', source: '/x', data: {} });
      assert.equal(await post(signed, { secret: OTHER_SECRET }), 401, 'signed by somebody else');
      const bare = { method: 'POST', headers: { 'content-type': structured }, body: signed };
      assert.equal((await fetch(url, bare)).status, 401, 'not signed');
      const broken = {
        'webhook-id': '1',
        'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
        'webhook-signature': 'v1',
      };
      assert.equal(
        (await fetch(url, { ...bare, headers: { ...bare.headers, ...broken } })).status,
        401,
        'half a signature',
      );
      const bodies = unreadableBodies();
      for (const body of bodies) assert.equal(await post(body), 400, body);
      return bodies.length;
    },
  };
}
