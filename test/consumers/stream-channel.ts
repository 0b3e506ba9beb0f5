// A bridge's stream → the same through a relay, which repeats frames and adds others.
import { createServer, type IncomingMessage, request as requestOf, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { freePorts } from '../far-sides/simulator-server.ts';
import { poll } from '../support/poll.ts';
import { TOKEN } from '../support/running-bridge.ts';
import { type Channel, unreadableBodies } from './channel.ts';

/** The channel, and what the relay does on request. */
export interface StreamChannel extends Channel {
  readonly relay: (request: IncomingMessage, response: ServerResponse) => void;
  readonly repeat: () => Promise<void>;
  /** Answers the next request that names a position with this status. Resolves when that is done. */
  refusePosition(status: number): Promise<void>;
}

export async function streamChannel(t: TestContext): Promise<StreamChannel> {
  const bridgePort = await freePorts();
  const frames: string[] = [];
  let reader: ServerResponse | undefined;
  let refuse: ((response: ServerResponse) => void) | undefined;

  function relay(request: IncomingMessage, response: ServerResponse): void {
    const { url: path = '/', method, headers } = request;
    if (refuse && headers['last-event-id'] !== undefined) {
      refuse(response);
      return;
    }
    const upstream = requestOf({ host: '127.0.0.1', port: bridgePort, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (path.startsWith('/v1/stream') && answer.statusCode === 200) relayFrames(answer, response);
      else answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  function relayFrames(answer: IncomingMessage, response: ServerResponse): void {
    response.flushHeaders();
    reader = response;
    response.on('close', () => {
      if (reader === response) reader = undefined;
    });
    let rest = '';
    answer.setEncoding('utf8').on('data', (text: string) => {
      const whole = `${rest}${text}`.split(/(?<=\n\n)/);
      rest = whole.at(-1)?.endsWith('\n\n') ? '' : (whole.pop() ?? '');
      for (const frame of whole) response.write(frame);
      frames.push(...whole.filter((frame) => /^data:/m.test(frame)));
    });
    answer.on('close', () => response.destroy());
  }

  async function write(frame: string): Promise<void> {
    await poll(() => reader !== undefined, 'a reader of the stream');
    reader?.write(frame);
  }

  const server = createServer(relay);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  return {
    name: 'stream',
    sections: {
      http: { listen: `127.0.0.1:${bridgePort}` },
      approvals: {
        approvers: {
          orders: { token: { env: 'ORDERS_TOKEN' } },
          admin: { token: { env: 'ADMIN_TOKEN' }, admin: true },
        },
      },
    },
    bridgeEnv: { ORDERS_TOKEN: TOKEN },
    programEnv: { BRIDGE: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, BRIDGE_TOKEN: TOKEN },
    relay,
    send: (event) => write(`data: ${JSON.stringify(event)}\n\n`),
    async sendUnreadable() {
      const bodies = unreadableBodies();
      for (const body of bodies) await write(`data: ${body}\n\n`);
      return bodies.length;
    },
    async repeat() {
      for (const frame of [...frames]) await write(frame.replace(/^id:.*\n/m, ''));
    },
    refusePosition: (status) =>
      new Promise((resolve) => {
        refuse = (response) => {
          refuse = undefined;
          response.writeHead(status).end();
          resolve();
        };
      }),
  };
}
