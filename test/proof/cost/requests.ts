// Every route of the bridge → requests to it that are the largest, the most and the least friendly.
import { DRILL } from '../../virtual/http-fixture.ts';
import { HELD } from '../../whole/full-store/store-content.ts';

/** What is sent on one connection; its answers may stay unread. */
export type HostileRequest = Buffer;

const LARGEST_BODY = 64 * 1024;
const LARGEST_HEAD = 15 * 1024;

/** Bodies of at most 64 KiB, by what is large in them. */
const BODIES: readonly string[] = [
  '['.repeat(LARGEST_BODY),
  '{"a":'.repeat(LARGEST_BODY / 5),
  `{"StartRequests":[${'{"EventId":"e"},'.repeat(4000)}{}]}`.slice(0, LARGEST_BODY),
  listOf('StartRequests'),
  listOf('Holds'),
  JSON.stringify({ EventId: HELD, reason: 'r'.repeat(1000) }),
  JSON.stringify({ sink: 'audit', ids: Array.from({ length: 1500 }, (_, index) => `event-${index}:scheduled`) }),
  JSON.stringify({ EventType: 'Reboot', Resources: Array.from({ length: 2000 }, (_, index) => `vm-${index}`) }),
  `{"__proto__":{"polluted":true},"EventId":"${'\\u0000'.repeat(9000)}"}`,
  'x'.repeat(LARGEST_BODY + 1),
];

function listOf(name: string): string {
  return JSON.stringify({ [name]: Array.from({ length: 3000 }, (_, index) => ({ EventId: `e${index}` })) });
}

const GLOBS = Array.from({ length: 60 }, () => `${'*?'.repeat(60)}!a`).join(',');

/** The paths to ask for, by method and path of the route. */
export const HOSTILE_PATHS: Readonly<Record<string, readonly string[]>> = {
  'GET /healthz': ['/healthz'],
  'GET /readyz': ['/readyz', '/readyz?whole=1'],
  'GET /drainz': ['/drainz'],
  'GET /metrics': ['/metrics'],
  'GET /v1/events': ['/v1/events', `/v1/events?${'%zz&'.repeat(3000)}`],
  'GET /v1/caller': ['/v1/caller'],
  'GET /v1/stream': ['/v1/stream?after=0', `/v1/stream?after=0&resources=${encodeURIComponent(GLOBS)}`],
  'POST /v1/approvals': ['/v1/approvals'],
  'GET /v1/approvals/:eventId': [`/v1/approvals/${HELD}?limit=200`, `/v1/approvals/${'e'.repeat(LARGEST_HEAD)}`],
  'POST /v1/holds': ['/v1/holds'],
  'DELETE /v1/holds/:eventId': [`/v1/holds/${HELD}`, `/v1/holds/${HELD}?approver=${'a'.repeat(10_000)}`],
  'GET /v1/journal': ['/v1/journal?limit=1000', `/v1/journal?limit=1000&event=${'e'.repeat(10_000)}`],
  'GET /v1/sinks': ['/v1/sinks'],
  'POST /v1/sinks/:name/pause': ['/v1/sinks/nobody/pause', `/v1/sinks/${'s'.repeat(LARGEST_HEAD)}/pause`],
  'POST /v1/sinks/:name/resume': ['/v1/sinks/nobody/resume'],
  'GET /v1/dead-letters': ['/v1/dead-letters?limit=1000'],
  'POST /v1/dead-letters/retry': ['/v1/dead-letters/retry'],
  'POST /v1/dead-letters/discard': ['/v1/dead-letters/discard'],
  'POST /v1/drills': ['/v1/drills'],
  'GET /v1/drills/:id': [`/v1/drills/${DRILL.id}`],
  'DELETE /v1/drills/:id': [`/v1/drills/${DRILL.id}`],
  'POST /v1/reload': ['/v1/reload'],
  'GET /v1/asyncapi.json': ['/v1/asyncapi.json'],
  'GET /v1/openapi.json': ['/v1/openapi.json'],
  'GET /': ['/'],
};

/** All requests, those of one route after those of another. @param token of an approver who is an admin */
export function hostileRequests(token: string): readonly HostileRequest[] {
  const proof = `Authorization: Bearer ${token}\r\n`;
  return Object.entries(HOSTILE_PATHS).flatMap(([route, paths]) => {
    const method = route.slice(0, route.indexOf(' '));
    return paths.flatMap((path) => (method === 'POST' ? posts(path, proof) : reads(method, path, proof)));
  });
}

function reads(method: string, path: string, proof: string): readonly HostileRequest[] {
  const head = (more: string) => Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`);
  const long = `X-Long: ${'x'.repeat(Math.max(0, LARGEST_HEAD - path.length))}\r\n`;
  const wrong = `Authorization: Bearer ${'a'.repeat(8000)}.${'b'.repeat(3000)}.c\r\n`;
  return [
    head(proof),
    head(`${proof}${long}`),
    Buffer.concat(Array.from({ length: 200 }, () => head(proof))),
    head(path.length < 2000 ? wrong : proof),
  ];
}

function posts(path: string, proof: string): readonly HostileRequest[] {
  const head = (more: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${proof}${more}\r\n`;
  const whole = BODIES.map((body) => Buffer.from(`${head(`Content-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`));
  const chunked = Buffer.from(`${head('Transfer-Encoding: chunked\r\n')}${'1;a=b\r\n[\r\n'.repeat(10_000)}0\r\n\r\n`);
  // A body that never comes, and one of which half comes.
  const never = Buffer.from(head(`Content-Length: ${LARGEST_BODY}\r\n`));
  return [...whole, chunked, never, Buffer.concat([never, Buffer.alloc(LARGEST_BODY / 2, '[')])];
}
