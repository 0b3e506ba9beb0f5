// Numbers from a seed → how one connection behaves: what it says, whether it reads, its end.
import { TOKEN } from '../../support/running-bridge.ts';
import { DRILL } from '../../virtual/http-fixture.ts';
import { HELD } from '../full-store/store-content.ts';

export interface Manner {
  /** To be sent one after the other, a turn apart. */
  readonly pieces: readonly Buffer[];
  /** How many connections behave so at the same time, each from an address of its own. */
  readonly atOnce: number;
  readonly reads: boolean;
  /** After it has said all. */
  readonly end: 'stays' | 'half-closes' | 'closes' | 'resets';
  /** How long it stays at most. */
  readonly stayMs: number;
}

/** At least 0, below 1, and the same row for a seed. */
export type Draw = () => number;

const PATHS = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/v1/events',
  '/v1/openapi.json',
  '/v1/approvals',
  '/v1/approvals/a',
  '/simulator',
  '/',
];
/** What reads most of a full store. */
const READINGS = [
  '/v1/journal?limit=1000',
  '/v1/dead-letters?limit=1000',
  '/v1/stream?after=0',
  '/v1/sinks',
  `/v1/approvals/${HELD}?limit=200`,
  `/v1/drills/${DRILL.id}`,
];
/** What patterns are made of: signs of globs and of regular expressions, and parts of names. */
const PATTERN_PARTS = [
  '*',
  '?',
  '*?',
  'a',
  'vmss',
  '-',
  '(a+)+',
  '[!-~]',
  '.*',
  '{1,9}',
  '|',
  '\\',
  '!',
  '😀',
  'İ',
  '0',
];
const MOST_BYTES = 128 * 1024;

type Say = (draw: Draw, path: string) => string;

/**
 * Globs that are hard to match, in a filter of the stream that has the whole journal before it; some of them are too
 * many or too long.
 */
function patterns(draw: Draw): string {
  const glob = () => pick(draw, PATTERN_PARTS).repeat(1 + draw() * 60) + pick(draw, PATTERN_PARTS);
  const globs = Array.from({ length: 1 + draw() * 70 }, glob);
  return `/v1/stream?after=0&resources=${encodeURIComponent(globs.join(','))}`.slice(0, 12_000);
}

/** Requests as they should be, and as nobody should make them. */
const SAYINGS: readonly Say[] = [
  (_, path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (draw) => `GET ${pick(draw, READINGS)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (draw) => `GET ${patterns(draw)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (_, path) => `HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (_, path) => `GET ${path} HTTP/1.0\r\n\r\n`,
  (_, path) => `GET ${path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`,
  (_, path) => `GET ${path}\r\n\r\n`,
  (_, path) => `GET ${path} HTTP/1.1\nHost: localhost\n\n`,
  (_, path) => `GET http://localhost${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (_, path) => `GET ${path} HTTP/1.1\r\n\r\n`,
  (_, path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
  (_, path) => `GET ${path} HTTP/9.9\r\nHost: localhost\r\n\r\n`,
  (_, path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  (_, path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  () => 'CONNECT 169.254.0.1:80 HTTP/1.1\r\nHost: 169.254.0.1:80\r\n\r\n',
  () => 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n',
  (_, path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n`,
  (_, path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\n\r\n`,
  (draw, path) => `GET ${path}?${'%zz&'.repeat(draw() * 3000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  (draw, path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(draw() * 40_000)}\r\n\r\n`,
  (draw, path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${'X-Many: 1\r\n'.repeat(draw() * 3000)}\r\n`,
  (_, path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  (_, path) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked, identity\r\n\r\nzzz\r\n`,
  (draw, path) =>
    post(path, `Transfer-Encoding: chunked\r\n\r\n${'1;a=b\r\n{\r\n'.repeat(draw() * 2000)}0\r\nX-Trailer: 1\r\n\r\n`),
  (draw, path) => post(path, `Transfer-Encoding: chunked\r\n\r\n${Math.floor(draw() * 2 ** 40).toString(16)}\r\n{}`),
  (_, path) => post(path, 'Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n'),
  (_, path) => post(path, 'Content-Length: 2\r\n\r\n{}'),
  (_, path) => post(path, 'Content-Length: -1\r\n\r\n{}'),
  (_, path) => post(path, `Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`),
  (draw, path) => post(path, `Content-Length: 99999\r\n\r\n${'{'.repeat(draw() * 90_000)}`),
  () => '\r\n\r\n\r\n',
  (draw) => Array.from({ length: 200 }, () => String.fromCharCode(draw() * 256)).join(''),
  (draw) => `\x16\x03\x01${String.fromCharCode(draw() * 256).repeat(300)}`,
];

function post(path: string, rest: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n${rest}`;
}

/** What a connection says is said once, or again and again in one piece. */
export function mannerOf(draw: Draw): Manner {
  const one = () => pick(draw, SAYINGS)(draw, pick(draw, PATHS));
  const times = draw() < 0.5 ? 1 : 1 + Math.floor(draw() * 2000);
  const said = draw() < 0.5 ? one().repeat(times) : Array.from({ length: Math.min(times, 50) }, one).join('');
  const whole = Buffer.from(said.slice(0, MOST_BYTES), 'latin1');
  const cut = draw() < 0.2 ? whole.subarray(0, draw() * whole.length) : whole;
  return {
    pieces: piecesOf(cut, draw),
    atOnce: draw() < 0.1 ? 20 : 1,
    reads: draw() < 0.5,
    end: pick(draw, ['stays', 'half-closes', 'closes', 'resets'] as const),
    stayMs: draw() * 3000,
  };
}

/** At once, in some pieces, or the first 200 bytes one by one. */
function piecesOf(bytes: Buffer, draw: Draw): readonly Buffer[] {
  const way = draw();
  if (way < 0.5) return [bytes];
  if (way < 0.7) return [...bytes.subarray(0, 200)].map((byte) => Buffer.of(byte));
  const size = Math.max(1, Math.ceil(bytes.length / (1 + draw() * 50)));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

function pick<T>(draw: Draw, from: readonly T[]): T {
  return from[Math.floor(draw() * from.length)] as T;
}
