// Maintenances → a metadata service on loopback, whose answers wait for what is due at a poll.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../cost/scope.ts';
import { type Maintenances, VM_NAME } from './maintenances.ts';

const INSTANCE = JSON.stringify({
  compute: {
    name: VM_NAME,
    vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
    subscriptionId: '8d10da13-8125-4ba9-a717-bf7490507b3d',
    resourceGroupName: 'soak',
    vmScaleSetName: '',
  },
});

export interface MetadataSide {
  readonly endpoint: string;
}

/**
 * @param atPoll called with the number of each poll, from 1 on; its answer waits until this resolves, so virtual time
 * stands still meanwhile
 */
export async function metadataSide(
  scope: Scope,
  maintenances: Maintenances,
  atPoll: (poll: number) => Promise<void> | undefined,
): Promise<MetadataSide> {
  let polls = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Date', new Date(maintenances.wallMsAt(polls)).toUTCString());
    if (request.method === 'POST') {
      const { StartRequests } = JSON.parse(await textOf(request)) as { StartRequests: { EventId: string }[] };
      maintenances.startRequested(
        StartRequests.map(({ EventId }) => EventId),
        polls,
      );
      return send(response, '');
    }
    if (request.url?.startsWith('/metadata/instance')) return send(response, INSTANCE);
    const poll = ++polls;
    await atPoll(poll);
    send(response, maintenances.at(poll));
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
