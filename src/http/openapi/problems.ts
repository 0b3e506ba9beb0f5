// Problem types → OpenAPI response objects, one for each status.
import { PROBLEMS } from '../../model/problems.ts';
import { type DocumentedProblem, EXAMPLE_ID, id, list, type Node, named, names, object, optional, text } from './operation.ts';

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request cannot be understood; `detail` names the place.',
  401: 'Nobody that the bridge knows.',
  403: 'This caller may not.',
  404: 'There is no such thing.',
  405: 'The route has other methods.',
  409: 'It is too late, or the event is not what the caller was told; of a reload: it needs a restart, or a file; of a drill: a real event is listed, or it names no machine.',
  410: 'The event has ended; of a stream: what follows the position was pruned.',
  413: 'The body has more than 64 KiB.',
  415: 'The body is no JSON, or compressed.',
  422: 'The configuration has faults; `faults` lists each.',
  421: 'Without a token it is read at a loopback address or the host of `http.listen` alone.',
  429: 'In place of 401, after too many of them.',
  500: 'A mistake in the bridge; its log says more.',
  502: 'The metadata service refused, and the event is still Scheduled.',
  503: 'The store fails, there are too many readers, or the bridge is starting or stopping. Ask again.',
};

const HEADERS: Readonly<Record<number, Node>> = {
  401: { 'WWW-Authenticate': header('How to say who you are.', { type: 'string', pattern: '^Bearer' }) },
  405: { Allow: header('What the route takes.', { type: 'string', minLength: 1 }) },
  429: { 'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1, maximum: 60 }) },
  503: { 'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1 }) },
};

export const FAULT = named('Fault', {
  description: 'One thing to mend. `path` is empty for the file as a whole.',
  ...object({ path: text, message: id, allowed: optional(text), suggestion: optional(text) }),
});

const PROBLEM = named('Problem', {
  description: 'RFC 9457. Compare `type`; the words may change.',
  ...object({
    ...{ type: id, title: id, status: { type: 'integer' }, detail: id, eventId: optional(text) },
    faults: optional({ ...list(FAULT), description: 'With `faulty-configuration`.' }),
    restart: optional({ ...names, description: 'With `needs-restart`: the keys of the configuration that need one.' }),
  }),
  examples: [
    { type: 'unknown', title: 'No such event', status: 404, detail: 'The metadata service lists no such event.', eventId: EXAMPLE_ID },
  ],
});

/** By status. */
export function problemResponses(types: readonly DocumentedProblem[]): Node {
  const byStatus = Map.groupBy([...new Set(types)], (type) => PROBLEMS[type].status);
  return Object.fromEntries([...byStatus].map(([status, own]) => [String(status), problemResponse(status, own)]));
}

function problemResponse(status: number, types: readonly DocumentedProblem[]): Node {
  const schema = {
    allOf: [PROBLEM],
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
