// Hostile answers → an HTTP server on loopback that gives each request the next of them.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { type HostileAnswer, hostileAnswers } from './hostile-answers.ts';
import type { Scope } from './scope.ts';

export interface HttpFarSide {
  readonly port: number;
  /** The names of the answers that were given, in order. */
  readonly given: readonly string[];
  /** Until then no request is answered. */
  readonly begin: () => void;
}

export interface HttpFarSideOptions {
  /** The longest answer that the bridge reads here. */
  readonly mostBytes: number;
  readonly isTls?: boolean;
  /** The name of the first answer, for callers that send few requests. */
  readonly first?: string;
}

export async function httpFarSide(
  scope: Scope,
  { mostBytes, isTls = false, first = '' }: HttpFarSideOptions,
): Promise<HttpFarSide> {
  const known = hostileAnswers(mostBytes);
  const answers = [...known.filter(([name]) => name === first), ...known.filter(([name]) => name !== first)];
  const given: string[] = [];
  const held: (() => void)[] = [];
  let isHostile = false;
  const listen: RequestListener = (request, response) => {
    request.resume();
    response.on('error', () => {});
    if (!isHostile) return void held.push(() => answerNext(request, response));
    answerNext(request, response);
  };
  const answerNext: RequestListener = (request, response) => {
    const [name, answer] = answers[given.length % answers.length] as readonly [string, HostileAnswer];
    given.push(name);
    answer(response, request);
  };
  const begin = () => {
    isHostile = true;
    for (const answer of held.splice(0)) answer();
  };
  const server = isTls ? createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, listen) : createServer(listen);
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, given, begin };
}
