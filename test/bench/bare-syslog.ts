// Port, settle, bytes of a message, batches → writes, 16 at a time; prints milliseconds.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const IN_FLIGHT = 16;
const [port = '', settleMs = '', bytes = '', counts = ''] = process.argv.slice(2);
const batches = counts.split(',').map((count) => Buffer.alloc(Number(count) * Number(bytes), `${bytes} ${'x'.repeat(Number(bytes))}`));
const socket = connect({ host: '127.0.0.1', port: Number(port) });
await once(socket, 'connect');

async function loop(): Promise<void> {
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    await new Promise<void>((resolve, reject) => socket.write(batch ?? '', (error) => (error ? reject(error) : resolve())));
    if (settleMs !== '0') await pause(Number(settleMs));
  }
}

const startedMs = performance.now();
await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
process.stdout.write(`${performance.now() - startedMs}\n`);
socket.destroy();
