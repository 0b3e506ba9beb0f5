// Requests of Azure's clients → their answers, with a limit of bytes and of time.
import { createDefaultHttpClient, type HttpClient, type PipelineResponse } from '@azure/core-rest-pipeline';
import { boundedBytes } from '../formats/bounded-bytes.ts';
import { type Deps, orAbort } from '../time/clock.ts';

/** The longest answer that is read, unpacked. One with a token has less than 10 KiB. */
const LONGEST_ANSWER = 64 * 1024;
/** Some clients have no time limit, and do not abort the request of a caller that has left. */
const TIMEOUT_MS = 30_000;

const ALL_STATUSES = new Set([Number.POSITIVE_INFINITY]);

/**
 * Returns the default client of the libraries, which reads answers of any length, with a limit of 64 KiB and 30 s for
 * each. Beyond it, the client rejects the request and closes its connection.
 */
export function boundedHttpClient(deps: Pick<Deps, 'after'>): HttpClient {
  const client = createDefaultHttpClient();
  return {
    sendRequest: async (request) => {
      const { abortSignal: caller } = request;
      const ending = new AbortController();
      const leave = () => ending.abort();
      caller?.addEventListener('abort', leave);
      const cancel = deps.after(TIMEOUT_MS, leave);
      request.abortSignal = ending.signal;
      request.streamResponseStatusCodes = ALL_STATUSES;
      try {
        if (caller?.aborted) leave();
        const response = await client.sendRequest(request);
        return await orAbort(readBounded(response), ending.signal);
      } catch (error) {
        // Also closes the connection of an answer that is too long.
        ending.abort();
        throw error;
      } finally {
        cancel();
        caller?.removeEventListener('abort', leave);
      }
    },
  };
}

/** Returns the response with its body as text. @throws Error if the body is too long or breaks off */
async function readBounded({ readableStreamBody, ...response }: PipelineResponse): Promise<PipelineResponse> {
  // Without an encoding of its own, a stream has bytes.
  const chunks = (readableStreamBody ?? []) as AsyncIterable<Uint8Array> | readonly Uint8Array[];
  const bytes = await boundedBytes(chunks, LONGEST_ANSWER);
  if (bytes === null) throw new Error('the answer has more than 64 KiB');
  return { ...response, bodyAsText: bytes.toString() };
}
