// Listeners in memory → each answers, however many the process had before it.
import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import test from 'node:test';
import { askInMemory, listenInMemory } from './memory-network.ts';

interface Listener {
  listen(where: object, done: () => void): void;
  address(): { readonly port: number };
  close(done: () => void): void;
}

/** Opens a listener in memory, asks it once, and closes it. */
async function statusOfOne(): Promise<number | undefined> {
  const net = process.getBuiltinModule('node:net') as unknown as {
    createServer(options: object, onConnection: (socket: Duplex) => void): Listener;
  };
  const listener = net.createServer({}, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    socket.once('end', () => socket.destroy());
  });
  await new Promise<void>((resolve) => listener.listen({}, resolve));
  const answer = await askInMemory(`http://127.0.0.1:${listener.address().port}`, 'GET', '/', {});
  await new Promise<void>((resolve) => listener.close(resolve));
  return answer?.status;
}

test('every listener of a process is reached, also the 80th, as no URL drops its port', async () => {
  listenInMemory();
  for (let count = 0; count < 100; count++) assert.equal(await statusOfOne(), 204, `listener ${count}`);
});
