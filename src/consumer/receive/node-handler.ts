// A receiver → a node:http listener, which Express and Fastify can call too.
import { ConsumerError } from '../consumer-error.ts';
import type { NodeRequest, NodeResponse } from '../web-types.ts';
import { problemFor } from './problem.ts';
import type { Receiver } from './receiver.ts';

/** Returns a listener. Mount it before any body parser: the signature covers the bytes as they came. */
export function toNodeHandler(receiver: Receiver): (request: NodeRequest, response: NodeResponse) => void {
  return (incoming, outgoing) => {
    answerOf(receiver, incoming)
      .catch(problemFor)
      .then((answer) => send(answer, outgoing))
      // The connection is closed, so there is no client to answer.
      .catch(() => outgoing.end());
  };
}

async function answerOf(receiver: Receiver, incoming: NodeRequest): Promise<Response> {
  if (incoming.readableDidRead === true) {
    throw new ConsumerError('body-read', 'the body was read before: mount the receiver before any body parser');
  }
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const request = new Request(`http://receiver${incoming.url?.startsWith('/') ? incoming.url : '/'}`, {
    method: incoming.method ?? 'GET',
    headers: headersOf(incoming),
    ...(hasBody && { body: ReadableStream.from(incoming), duplex: 'half' }),
  });
  return (await receiver(request)) as Response;
}

function headersOf({ headers }: NodeRequest): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return typeof value === 'string' ? [[name, value]] : value.map((each) => [name, each]);
  });
}

async function send(answer: Response, outgoing: NodeResponse): Promise<void> {
  // The rest of a body that is too large would be read as the next request.
  const headers = { ...Object.fromEntries(answer.headers), ...(answer.status === 413 && { connection: 'close' }) };
  outgoing.writeHead(answer.status, headers);
  outgoing.end(await answer.text());
}
