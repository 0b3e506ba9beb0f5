// One POST to a token endpoint → its answer with the body, as far as it may be long.
import type { IncomingMessage, RequestOptions } from 'node:http';
import { MAX_HEADER_BYTES, type Request, type RequestExtras } from '../exchange.ts';

const LONGEST_BODY = 64 * 1024;

export interface TokenAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Null where it is longer than 64 KiB. */
  readonly body: string | null;
}

/** Rejects with the signal's reason, or with what node throws. Follows no redirect. */
export function requestToken({ url, headers, body, agent, lookup }: Omit<Request, 'method'>, signal: AbortSignal): Promise<TokenAnswer> {
  const { request: open } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const settings = { method: 'POST', agent, lookup, headers, maxHeaderSize: MAX_HEADER_BYTES, until: signal };
    const outgoing = open(url, settings satisfies RequestOptions & RequestExtras);
    const settle = (finish: () => void) => {
      signal.removeEventListener('abort', abort);
      finish();
    };
    const fail = (error: unknown) => {
      settle(() => reject(error));
      outgoing.destroy();
    };
    const abort = () => fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    outgoing.on('error', fail);
    outgoing.on('upgrade', (_, socket) => {
      socket.destroy();
      fail(new Error('an upgrade that nobody asked for'));
    });
    outgoing.on('response', (incoming) => {
      const { statusCode = 0, headers: answered } = incoming;
      read(incoming).then((text) => settle(() => resolve({ status: statusCode, retryAfter: answered['retry-after'], body: text })), fail);
    });
    outgoing.end(body ?? undefined);
  });
}

/** Cuts off what is too long. */
async function read(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > LONGEST_BODY) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
