// The machine → what a diagnosis needs: addresses, routes, files of the kernel, free ports.
import { readFileSync, statfsSync } from 'node:fs';
import type { NetworkInterfaceInfo } from 'node:os';
import { codeOf } from '../errors.ts';

/** Sends nothing and changes nothing. */
export interface MachineProbe {
  /** Resolves to the source address of traffic to this IP address, or to a code such as ENETUNREACH. */
  sourceOf(address: string): Promise<{ readonly address: string } | { readonly code: string }>;
  /** By name. */
  interfaces(): Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, 'address'>[] | undefined>>;
  /** Returns the text of a small file; null if it cannot be read. */
  text(path: string): string | null;
  /** Returns the bytes of the disk at this path that this user can still write; null if that is unknown. */
  freeBytes(path: string): number | null;
  /** Resolves to the code why the address cannot be used, such as EADDRINUSE; null if it can. */
  listenFault(host: string, port: number): Promise<string | null>;
}

const ANY_PORT = 80;

export const MACHINE_PROBE: MachineProbe = {
  // Connecting a datagram socket selects the route without sending a packet.
  async sourceOf(address) {
    const { createSocket } = await import('node:dgram');
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    try {
      return await new Promise((resolve) => {
        const failed = (error: unknown) => resolve({ code: codeOf(error) ?? 'unknown error' });
        socket.once('error', failed);
        // The callback receives the error, although its type lacks it.
        socket.connect(ANY_PORT, address, (error?: unknown) =>
          error ? failed(error) : resolve({ address: socket.address().address }),
        );
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
  freeBytes(path) {
    try {
      const { bavail, bfree, bsize } = statfsSync(path);
      // Some blocks are reserved for root.
      return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
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
