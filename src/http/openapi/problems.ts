// Problem types → OpenAPI response objects, one for each status.
import { PROBLEMS } from '../../model/problems.ts';
import {
  type DocumentedProblem,
  EXAMPLE_ID,
  id,
  list,
  named,
  names,
  object,
  optional,
  type SchemaNode,
  text,
} from './operation.ts';

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid; `detail` says why.',
  401: 'The token or certificate is missing or not valid.',
  403: 'This caller may not do this.',
  404: 'The event, sink, drill or route does not exist.',
  405: 'The route has other methods.',
  409: 'It is too late, or the event has changed. A reload needs a restart, or there is no file. A drill meets a real event, or names no machine.',
  410: 'The event has ended; for a stream, what follows the position was pruned.',
  413: 'The body has more than 64 KiB.',
  415: 'The body is not JSON, or is compressed.',
  422: 'The configuration has faults; `faults` lists each.',
  421: 'Without a token, only a loopback address or the host of `http.listen` is accepted in `Host`.',
  429: 'Sent instead of 401 after too many failures. Valid credentials are always accepted.',
  500: 'A fault in the bridge; see its log.',
  502: 'The metadata service refused, and the event is still Scheduled.',
  503: 'The store fails, there are too many readers, or the bridge is starting or stopping. Retry.',
};

const HEADERS: Readonly<Record<number, SchemaNode>> = {
  401: { 'WWW-Authenticate': header('How to authenticate.', { type: 'string', pattern: '^Bearer' }) },
  405: { Allow: header('The methods of the route.', { type: 'string', minLength: 1 }) },
  429: { 'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1, maximum: 60 }) },
  503: { 'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1 }) },
};

export const FAULT = named('Fault', {
  description: 'A fault in the configuration. `path` is empty for the file as a whole.',
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
    {
      type: 'unknown',
      title: 'No such event',
      status: 404,
      detail: 'The metadata service lists no such event.',
      eventId: EXAMPLE_ID,
    },
  ],
});

/** By status. */
export function problemResponses(types: readonly DocumentedProblem[]): SchemaNode {
  const byStatus = Map.groupBy([...new Set(types)], (type) => PROBLEMS[type].status);
  return Object.fromEntries([...byStatus].map(([status, own]) => [String(status), problemResponse(status, own)]));
}

function problemResponse(status: number, types: readonly DocumentedProblem[]): SchemaNode {
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

function header(description: string, schema: SchemaNode): SchemaNode {
  return { description, required: true, schema };
}
