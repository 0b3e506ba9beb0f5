// A simulator on real sockets of loopback, closed behind the test, and ports that are free for one.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { TestContext } from 'node:test';
import {
  type SimulatorServer,
  type SimulatorServerOptions,
  startSimulator as startSimulatorServer,
} from '../../src/simulator/server.ts';
import { type SimulatedAzure, startSimulator } from '../../src/simulator.ts';
import { systemDeps } from '../../src/time/system.ts';

/** On a free port and the machine's own clocks, unless other things are said. */
export async function startServer(
  t: TestContext,
  options: Partial<SimulatorServerOptions> = {},
): Promise<SimulatorServer> {
  const server = await startSimulatorServer({ listen: { host: '127.0.0.1', port: 0 }, deps: systemDeps(), ...options });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

/** The simulator as tests of other projects have it, at the pace of the real clock, until the test ends. */
export async function localSimulator(t: TestContext): Promise<SimulatedAzure> {
  const azure = await startSimulator({ speed: 1 });
  t.after(() => azure.close());
  return azure;
}

/** The first of so many in a row that nobody listened on a moment ago. */
export async function freePorts(count = 1): Promise<number> {
  for (;;) {
    const first = await open(0);
    const { port } = first.address() as AddressInfo;
    const others = await Promise.allSettled(Array.from({ length: count - 1 }, (_, index) => open(port + index + 1)));
    const opened = [first, ...others.flatMap((other) => (other.status === 'fulfilled' ? [other.value] : []))];
    await Promise.all(opened.map((server) => once(server.close(), 'close')));
    if (opened.length === count) return port;
  }
}

async function open(port: number) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
