// Messages → one UDP datagram each, accepted when the system has taken it.
import type { Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { checkedLookup } from '../../../src/net/private-addresses.ts';
import { deadline, orAbort } from '../../../src/time/clock.ts';
import { untilNextTurn } from '../../../src/time/fair-queue.ts';
import type { Outcome } from '../../adapter.ts';
import type { NetworkServer } from '../server-address.ts';
import { syslogFault, syslogTimeoutFault } from '../syslog-fault.ts';
import { type SyslogTransport, serverGuard, type TransportParts } from './transport.ts';

/**
 * Sends datagrams. Resolves the name for each call, so that it follows a server to a new address. Keeps no socket open.
 */
export class Datagrams implements SyslogTransport {
  readonly #parts: TransportParts;
  readonly #server: NetworkServer;

  constructor(server: NetworkServer, parts: TransportParts) {
    this.#server = server;
    this.#parts = parts;
  }

  async send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Outcome[]> {
    return await this.#withTimeout(signal, async (limited) => {
      const address = await this.#resolvedAddress(limited);
      const socket = process.getBuiltinModule('node:dgram').createSocket(isIPv6(address) ? 'udp6' : 'udp4');
      try {
        const outcomes: Outcome[] = [];
        // Sending a datagram does not wait: without this pause, a busy sink would block the event loop.
        await untilNextTurn();
        for (const message of messages)
          outcomes.push(await orAbort(this.#sendDatagram(socket, message, address), limited));
        return outcomes;
      } finally {
        socket.close();
      }
    });
  }

  /** Resolves the name. Returns a note, because UDP has no answers. */
  async check(signal: AbortSignal): Promise<string> {
    const address = await this.#withTimeout(signal, (limited) => this.#resolvedAddress(limited));
    return `${this.#server.text} is ${address}; over UDP the check cannot see if messages arrive`;
  }

  close(): void {}

  #sendDatagram(socket: Socket, message: Uint8Array, address: string): Promise<Outcome> {
    return new Promise((resolve) => {
      socket.send(message, this.#server.port, address, (error) =>
        resolve(error ? syslogFault(error, this.#parts.target) : 'accepted'),
      );
    });
  }

  #resolvedAddress(signal: AbortSignal): Promise<string> {
    const lookup = checkedLookup(serverGuard(this.#parts.target), this.#parts.resolve);
    const found = new Promise<string>((resolve, reject) => {
      lookup(this.#server.host, {}, (error, address) => (error ? reject(error) : resolve(String(address))));
    });
    return orAbort(found, signal);
  }

  async #withTimeout<T>(signal: AbortSignal, work: (limited: AbortSignal) => Promise<T>): Promise<T> {
    const { deps, target, timeoutMs } = this.#parts;
    using limit = deadline(deps, timeoutMs, () => syslogTimeoutFault(target, timeoutMs), signal);
    return await work(limit.signal);
  }
}
