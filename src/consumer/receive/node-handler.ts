// A receiver → a node:http listener, which Express and Fastify can call too.
import { ConsumerError } from '../consumer-error.ts';
import type { NodeRequest, NodeResponse } from '../web-types.ts';
import { problemFor } from './problem.ts';
import type { Receiver } from './receiver.ts';

/** Mount it where no parser of bodies stands before it: the signature is over the bytes as they came. */
export function toNodeHandler(receiver: Receiver): (request: NodeRequest, response: NodeResponse) => void {
  return (incoming, outgoing) => {
    answerOf(receiver, incoming)
      .catch(problemFor)
      .then((answer) => send(answer, outgoing))
      // The connection is gone: there is no client to answer.
      .catch(() => outgoing.end());
  };
}

async function answerOf(receiver: Receiver, incoming: NodeRequest): Promise<Response> {
  if (incoming.readableDidRead === true) {
    throw new ConsumerError('body-read', 'the body was read before: mount the receiver where no parser stands before it');
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
  // What is left of a body that was too large would be read as the next request.
  const headers = { ...Object.fromEntries(answer.headers), ...(answer.status === 413 && { connection: 'close' }) };
  outgoing.writeHead(answer.status, headers);
  outgoing.end(await answer.text());
}
