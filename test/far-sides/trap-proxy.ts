// Nothing → a proxy that the environment names, which nobody should visit.
import { type AddressInfo, createServer } from 'node:net';
import type { TestContext } from 'node:test';

/** A proxy that counts who comes and cuts them off. */
export async function trapProxy(
  t: TestContext,
): Promise<{ readonly env: Record<string, string>; readonly visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.on('error', () => {}).destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  return {
    env: { NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(names.map((name) => [name, url])) },
    visits: () => visits,
  };
}
