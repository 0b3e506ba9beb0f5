// A request → its body's bytes, up to a limit.
import { ConsumerError } from '../consumer-error.ts';

/** @throws ConsumerError `too-large`; `body-read` if the body was read before */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.bodyUsed) throw new ConsumerError('body-read', 'the body was read before: mount the receiver before any body parser');
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    chunks.push(value);
    size += value.byteLength;
    if (size > maxBytes) {
      // Cancelling would close the connection before the answer is sent.
      reader.releaseLock();
      throw tooLarge(maxBytes);
    }
  }
}

function tooLarge(maxBytes: number): ConsumerError {
  return new ConsumerError(
    'too-large',
    `the delivery has more than ${maxBytes} bytes: lower maxBatch of the sink, or raise maxBodyBytes of the receiver`,
  );
}
