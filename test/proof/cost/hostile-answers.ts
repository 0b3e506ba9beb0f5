// Names → answers of HTTP far sides that are as large, deep, slow or malformed as a bound allows.
import type { IncomingMessage, ServerResponse } from 'node:http';

export type HostileAnswer = (response: ServerResponse, request: IncomingMessage) => void;

const MIB = 1024 * 1024;

/** A text of so many bytes that one part repeats. */
function filled(bytes: number, start: string, part: string, end: string): Buffer {
  const count = Math.floor((bytes - start.length - end.length) / part.length);
  return Buffer.from(`${start}${part.repeat(count)}${end}`);
}

/** JSON that takes many times its own size in memory, or none of it. */
export function hostileBodies(bytes: number): Readonly<Record<string, Buffer>> {
  return {
    objects: filled(bytes, '{"items":[', '{},', '0]}'),
    depth: filled(bytes, '', '[', ''),
    nested: filled(bytes, '', '{"a":', '0'),
    numbers: filled(bytes, '{"acks":[', '1.5,', '0]}'),
    keys: Buffer.from(
      `{${Array.from({ length: Math.floor(bytes / 20) }, (_, index) => `"k${index}":{}`).join(',')}}`,
    ).subarray(0, bytes),
    text: filled(bytes, '{"message":"', 'é', '"}'),
    escapes: filled(bytes, '{"message":"', '\\u0000', '"}'),
    blanks: filled(bytes, '{', ' ', '}'),
  };
}

function withBody(body: Buffer, status = 200): HostileAnswer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  };
}

/** Sends until the other side closes the connection. */
const endless: HostileAnswer = (response) => {
  const chunk = Buffer.alloc(64 * 1024, '[');
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('drain', more);
  more();
};

/** A byte at a time, until the other side closes the connection. */
const slow: HostileAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};

const raw =
  (text: string): HostileAnswer =>
  (response) =>
    void response.socket?.end(text);

const HEAD = 'HTTP/1.1 200 OK\r\n';

/**
 * Those that take the most come first, because a sink that fails gets few requests.
 * @param mostBytes the longest answer that the bridge reads from this far side
 */
export function hostileAnswers(mostBytes: number): readonly (readonly [name: string, answer: HostileAnswer])[] {
  const bodies = Object.entries(hostileBodies(mostBytes));
  return [
    ...bodies.map(([name, body]) => [name, withBody(body)] as const),
    ['longer than allowed', withBody(Buffer.alloc(mostBytes + MIB, '[]'))],
    ['endless', endless],
    ...bodies.map(([name, body]) => [`${name}, 400`, withBody(body, 400)] as const),
    ['slow', slow],
    ['silent', () => {}],
    ['long header', raw(`${HEAD}X-Long: ${'x'.repeat(64 * 1024)}\r\n\r\n`)],
    ['many headers', raw(`${HEAD}${'A: b\r\n'.repeat(20_000)}\r\n`)],
    ['interim answers', raw(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)}${HEAD}\r\n`)],
    ['a far Retry-After', (response) => response.writeHead(503, { 'retry-after': '9'.repeat(4000) }).end()],
    ['a redirect to itself', (response, { url }) => response.writeHead(307, { location: url ?? '/' }).end()],
    ['other protocol', raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n')],
    ['garbage', raw('\0'.repeat(5000))],
    ['chunks of one byte', raw(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${'1\r\n[\r\n'.repeat(100_000)}0\r\n\r\n`)],
    ['reset', (response) => void response.socket?.resetAndDestroy()],
  ];
}
