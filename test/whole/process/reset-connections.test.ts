// Connections that are reset before they are accepted → none of them stays open.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { serve } from '../../virtual/http-fixture.ts';

/** 20 connections that ask more than the bridge reads at once, the later ones with a longer head, then are reset. */
const RESETTING = `
  import { once } from 'node:events';
  import net from 'node:net';
  const sockets = Array.from({ length: 20 }, () => net.connect(Number(process.argv[1]), '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const text = (index) => ('GET /v1/events HTTP/1.1\\r\\nhost: localhost\\r\\nx-long: ' + 'x'.repeat(index * 750) + '\\r\\n\\r\\n').repeat(6);
  await Promise.all(sockets.map((socket, index) => new Promise((resolve) => socket.write(text(index), resolve))));
  console.log(sockets.length + ' connected');
  for (const socket of sockets) socket.resetAndDestroy();
`;

test('connections that their callers have reset before the bridge meets them do not keep a server from closing', async (t) => {
  const fixture = await serve(t);
  // This thread stands still meanwhile, so that all of them are reset before they are accepted.
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', RESETTING, String(fixture.port)], {
    encoding: 'utf8',
  });
  assert.deepEqual([child.status, child.stdout], [0, '20 connected\n'], child.stderr);
  assert.equal((await fixture.send('GET', '/healthz')).status, 200);
  await fixture.close();
});
