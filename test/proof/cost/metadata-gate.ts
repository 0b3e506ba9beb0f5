// A simulator behind a proxy → the polls of a bridge, counted; on demand, hostile answers between.
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HostileAnswer, hostileAnswers } from './hostile-answers.ts';
import type { Scope } from './scope.ts';

const MOST_BYTES = 4 * 1024 * 1024;

export interface MetadataGate {
  readonly endpoint: string;
  /** GETs of the document so far. */
  readonly polls: number;
  /** True: every second poll gets the next hostile answer. */
  isHostile: boolean;
}

export async function metadataGate(scope: Scope, endpoint: string): Promise<MetadataGate> {
  const answers = hostileAnswers(MOST_BYTES);
  const gate = { endpoint: '', polls: 0, isHostile: false };
  let hostile = 0;
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/metadata/scheduledevents') && request.method === 'GET') {
      gate.polls += 1;
      if (gate.isHostile && gate.polls % 2 === 0) {
        const [, answer] = answers[hostile++ % answers.length] as readonly [string, HostileAnswer];
        return answer(response, request);
      }
    }
    const { method = 'GET', url = '/', headers } = request;
    const forwarded = send(new URL(url, endpoint), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  gate.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return gate;
}
