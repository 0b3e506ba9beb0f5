// How long messages settle → a syslog server over TCP that keeps all; a plain loop sends it again.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { FrameReader } from '../far-sides/syslog/frame-reader.ts';
import type { SiemFarSide } from './siem.ts';

/** As many batches at once as the sink's. */
const IN_FLIGHT = 16;

export async function syslogFarSide(settleMs: number): Promise<SiemFarSide> {
  const chunks: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => chunks.push(chunk));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    sink: { server: `tcp://127.0.0.1:${port}`, settle: `${settleMs}ms` },
    forget: () => {
      chunks.length = 0;
    },
    sends: (calls) => {
      const messages = new FrameReader('counted').read(Buffer.concat(chunks));
      const batches = calls.map(({ accepted }) =>
        Buffer.concat(messages.splice(0, accepted).flatMap((each) => [Buffer.from(`${each.length} `), each])),
      );
      return {
        way: 'stream',
        to: String(port),
        inFlight: IN_FLIGHT,
        settleMs,
        sends: batches.map((bytes) => ({ base64: bytes.toString('base64') })),
      };
    },
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
