// Claims of ports → ports that nobody else has meanwhile.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'node:test';
import { PortBlock } from './ports.ts';

test('claims do not overlap, and are below the ephemeral ports of the system', async () => {
  const blocks = await Promise.all([PortBlock.claim(), PortBlock.claim(), PortBlock.claim()]);
  const ports = blocks.flatMap((block) => Array.from({ length: 15 }, (_, index) => block.port(index)));
  assert.equal(new Set(ports).size, 45);
  assert.ok(ports.every((port) => port > 1_024 && port < 32_768));
  for (const block of blocks) block[Symbol.dispose]();
});

test('a claimed port can be listened on, again and again', async () => {
  const block = await PortBlock.claim();
  for (let times = 0; times < 2; times += 1) {
    const server = createServer().listen(block.port(14), '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
  block[Symbol.dispose]();
});
