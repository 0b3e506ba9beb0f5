// A JSON body → one POST to a bridge's HTTP interface, and its answer: directly, whatever proxy the environment names, since a token goes along.
import type { IncomingMessage } from 'node:http';

/** Far above any answer of a bridge. */
const LONGEST_ANSWER = 1024 * 1024;

export interface BridgeAnswer {
  readonly status: number;
  readonly body: string;
}

/** Follows no redirect. Rejects with what the network says, or with the signal's reason. */
export function postJson(url: URL, headers: Readonly<Record<string, string>>, body: object, signal: AbortSignal): Promise<BridgeAnswer> {
  const { request, Agent } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    // An agent of our own knows no proxy, also with NODE_USE_ENV_PROXY set.
    const options = { method: 'POST', agent: new Agent(), headers: { ...headers, 'Content-Type': 'application/json' }, signal };
    const outgoing = request(url, options, (incoming) => {
      read(incoming).then((text) => resolve({ status: incoming.statusCode ?? 0, body: text }), reject);
    });
    outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    outgoing.end(JSON.stringify(body));
  });
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size > LONGEST_ANSWER) throw new Error('the answer is larger than 1 MiB');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
