// The problem types that callers meet → response objects of the OpenAPI document, one for each status with the types that it can carry.
import type { Node } from './node.ts';

/** By `type`; a message's refusals that no caller of HTTP sees are not among them. */
export const PROBLEM_STATUS = {
  'bad-request': 400,
  unauthorized: 401,
  'no-approvers': 403,
  reader: 403,
  scope: 403,
  forbidden: 403,
  'not-found': 404,
  unknown: 404,
  'seen-unknown': 404,
  'not-held': 404,
  'method-not-allowed': 405,
  started: 409,
  submitted: 409,
  changed: 409,
  ended: 410,
  'too-large': 413,
  'not-json': 415,
  host: 421,
  'too-many-requests': 429,
  internal: 500,
  refused: 502,
  unavailable: 503,
} as const;

export type DocumentedProblem = keyof typeof PROBLEM_STATUS;

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request cannot be understood; `detail` names the place.',
  401: 'Nobody that the bridge knows.',
  403: 'This caller may not.',
  404: 'There is no such thing.',
  405: 'The route has other methods.',
  409: 'It is too late, or the event is not what the caller was told.',
  410: 'The event has ended.',
  413: 'The body has more than 64 KiB.',
  415: 'The body is no JSON, or compressed.',
  421: 'Without a token it is read at a loopback address or the host of `http.listen` alone.',
  429: 'In place of 401, after too many of them.',
  500: 'A mistake in the bridge; its log says more.',
  502: 'The metadata service refused, and the event is still Scheduled.',
  503: 'The store fails, or the bridge is starting or stopping. Ask again.',
};

const HEADERS: Readonly<Record<number, Node>> = {
  401: { 'WWW-Authenticate': header('How to say who you are.', { type: 'string', pattern: '^Bearer' }) },
  405: { Allow: header('What the route takes.', { type: 'string', minLength: 1 }) },
  429: { 'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1, maximum: 60 }) },
  503: { 'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1 }) },
};

/** By status. */
export function problemResponses(...types: readonly DocumentedProblem[]): Node {
  const byStatus = Map.groupBy(types, (type) => PROBLEM_STATUS[type]);
  return Object.fromEntries([...byStatus].map(([status, own]) => [String(status), problemResponse(status, own)]));
}

function problemResponse(status: number, types: readonly DocumentedProblem[]): Node {
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { type: { enum: types }, status: { const: status } },
  };
  return {
    description: DESCRIPTIONS[status],
    ...(HEADERS[status] && { headers: HEADERS[status] }),
    content: { 'application/problem+json': { schema } },
  };
}

function header(description: string, schema: Node): Node {
  return { description, required: true, schema };
}
