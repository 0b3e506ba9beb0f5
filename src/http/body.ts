// An HTTP request's body → bytes within a limit, and those that claim to be JSON → their value or the problem.
import type { IncomingMessage } from 'node:http';
import { problem } from './problem.ts';
import type { Reply, RouteRequest } from './route.ts';

/** The largest body of an approval. */
const LIMIT_BYTES = 64 * 1024;

/** Null as soon as it is longer than `limitBytes`; what is still to come is then read and thrown away, so that the answer arrives. */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Uint8Array | null> {
  const parts: Buffer[] = [];
  let length = 0;
  const isAnnouncedTooLarge = Number(request.headers['content-length'] ?? 0) > limitBytes;
  if (!isAnnouncedTooLarge) {
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      length += part.length;
      if (length > limitBytes) break;
      parts.push(part);
    }
  }
  if (!isAnnouncedTooLarge && length <= limitBytes) return Buffer.concat(parts);
  request.resume();
  return null;
}

/** 415, 413, 400, in this order (contract, section 6). */
export async function readJson({ headers, body }: RouteRequest): Promise<{ readonly value: unknown } | { readonly reply: Reply }> {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (mediaType !== 'application/json' || coding !== 'identity') {
    return { reply: problem(415, 'not-json', 'Send the body as JSON, not compressed, with Content-Type: application/json.') };
  }
  const bytes = await body(LIMIT_BYTES);
  if (bytes === null) return { reply: problem(413, 'too-large', 'A body has 64 KiB at most; send the approvals in several requests.') };
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    // Neither the parser's message nor the text: both would repeat what the caller sent.
    return { reply: problem(400, 'bad-request', 'The body is not valid JSON in UTF-8.') };
  }
}
