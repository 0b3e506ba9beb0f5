// One request → the status and the headers of its answer, regardless of the body.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { type HttpAnswer, type HttpRequest, sendRequest, UnexpectedUpgrade } from '../../src/net/http-exchange.ts';
import type { Deps } from '../../src/time/clock.ts';

/** Limits for reading the body of an answer, which is discarded. */
const DRAIN_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

export type Answer = Pick<HttpAnswer, 'status' | 'headers'>;

/**
 * Resolves with the status and headers. Later errors are ignored: the body is read up to a limit, so that the connection can be
 * reused, and otherwise the connection is closed. Rejects with the signal's reason, or with what Node throws.
 */
export async function requestStatus(request: HttpRequest, deps: Pick<Deps, 'after'>, signal: AbortSignal): Promise<Answer> {
  try {
    return await sendRequest({ ...request, statusDecides: true }, signal, async (incoming, outgoing) => {
      const { statusCode = 0, headers } = incoming;
      await drain(incoming, outgoing, deps, signal);
      return { status: statusCode, headers };
    });
  } catch (error) {
    if (error instanceof UnexpectedUpgrade) return { status: error.status, headers: {} };
    throw error;
  }
}

function drain(incoming: IncomingMessage, outgoing: ClientRequest, deps: Pick<Deps, 'after'>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => {
    cancel();
    signal.removeEventListener('abort', cut);
    // A receiver that answers early and stops reading would block the rest of the request.
    if (!outgoing.writableFinished) outgoing.destroy();
    resolve();
  };
  const cut = () => {
    outgoing.destroy();
    finish();
  };
  const cancel = deps.after(DRAIN_MS, cut);
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) cut();
  });
  for (const event of ['error', 'close', 'end']) incoming.on(event, finish);
  if (signal.aborted) cut();
  else signal.addEventListener('abort', cut, { once: true });
  return promise;
}
