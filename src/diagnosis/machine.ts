// The machine → what a diagnosis asks of it: addresses, routes, files of the kernel, free ports.
import { readFileSync } from 'node:fs';
import type { NetworkInterfaceInfo } from 'node:os';
import { codeOf } from '../errors.ts';

/** Sends nothing, changes nothing. */
export interface MachineProbe {
  /** The address from which something to this IP address would leave; a code such as ENETUNREACH where nothing would. */
  sourceOf(address: string): Promise<{ readonly address: string } | { readonly code: string }>;
  /** By name. */
  interfaces(): Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, 'address'>[] | undefined>>;
  /** A small text file; null where it cannot be read. */
  text(path: string): string | null;
  /** Why nobody could listen there now, as EADDRINUSE; null where somebody could. */
  listenFault(host: string, port: number): Promise<string | null>;
}

const ANY_PORT = 80;

export const MACHINE_PROBE: MachineProbe = {
  // To connect a datagram socket chooses the way, and sends no packet.
  async sourceOf(address) {
    const { createSocket } = await import('node:dgram');
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    try {
      return await new Promise((resolve) => {
        const failed = (error: unknown) => resolve({ code: codeOf(error) ?? 'unknown error' });
        socket.once('error', failed);
        // Its type does not say that the callback is handed the error.
        socket.connect(ANY_PORT, address, (error?: unknown) => (error ? failed(error) : resolve({ address: socket.address().address })));
      });
    } finally {
      socket.close();
    }
  },
  interfaces: () => process.getBuiltinModule('node:os').networkInterfaces(),
  text(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return null;
    }
  },
  async listenFault(host, port) {
    const { createServer } = await import('node:net');
    const server = createServer();
    return await new Promise((resolve) => {
      server.once('error', (error) => resolve(codeOf(error) ?? 'unknown error'));
      server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
    });
  },
};
