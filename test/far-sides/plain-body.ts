// A request as it came → its body, decompressed.
import { gunzipSync } from 'node:zlib';
import type { ReceivedRequest } from './webhook-receiver.ts';

/** @throws if it is not compressed as its header says */
export function plainBody({ headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>): Buffer {
  return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}
