// A receiver's refusal or failure → application/problem+json (RFC 9457).
import { ConsumerError, type ConsumerErrorCode } from '../consumer-error.ts';

/** The answer for each code. Any other error is a failed handler. */
const STATUS_OF: Partial<Record<ConsumerErrorCode, readonly [status: number, title: string]>> = {
  unauthorized: [401, 'The signature is not valid'],
  source: [403, 'The source is not allowed'],
  'not-a-cloudevent': [400, 'Not a CloudEvent of a bridge'],
  'unsupported-media-type': [415, 'Not a CloudEvent in JSON'],
  'too-large': [413, 'The body is too large'],
  'body-read': [500, 'The body was read before'],
  'handled-elsewhere': [503, 'Another process is handling it'],
  closed: [503, 'The receiver is closing'],
};

/**
 * Returns 4xx if a retry would not help, and 5xx if the bridge should retry. The answer shows nothing of a handler's
 * error.
 */
export function problemFor(error: unknown): Response {
  const code = error instanceof ConsumerError ? error.code : undefined;
  const found = code && STATUS_OF[code];
  if (found === undefined) return problemResponse(500, 'handler-failed', 'A handler failed', 'send it again');
  return problemResponse(found[0], code as string, found[1], (error as ConsumerError).message);
}

export function problemResponse(
  status: number,
  type: string,
  title: string,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  const body = JSON.stringify({ type, title, status, detail });
  return new Response(body, { status, headers: { ...headers, 'content-type': 'application/problem+json' } });
}
