// Messages → one UDP datagram each, accepted once the system has taken it: nobody can tell more.
import type { Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { checkedLookup } from '../../../src/net/checked-lookup.ts';
import { deadline, orAbort } from '../../../src/time/clock.ts';
import { nextTurn } from '../../../src/time/turn.ts';
import type { Outcome } from '../../adapter.ts';
import type { NetworkServer } from '../server-address.ts';
import { syslogFault, timeoutFault } from '../syslog-fault.ts';
import { serverGuard, type Transport, type TransportParts } from './transport.ts';

/** The name is looked up for each call, so that a server which moves is followed. Keeps nothing open. */
export class Datagrams implements Transport {
  readonly #parts: TransportParts;
  readonly #server: NetworkServer;

  constructor(server: NetworkServer, parts: TransportParts) {
    this.#server = server;
    this.#parts = parts;
  }

  async send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Outcome[]> {
    return await this.#inTime(signal, async (limited) => {
      const address = await this.#address(limited);
      const socket = process.getBuiltinModule('node:dgram').createSocket(isIPv6(address) ? 'udp6' : 'udp4');
      try {
        const outcomes: Outcome[] = [];
        // The system takes a datagram at once: without this, a busy sink would leave nobody else a turn.
        await new Promise<void>(nextTurn);
        for (const message of messages) outcomes.push(await orAbort(this.#handOver(socket, message, address), limited));
        return outcomes;
      } finally {
        socket.close();
      }
    });
  }

  /** Looks the name up. */
  async check(signal: AbortSignal): Promise<string> {
    const address = await this.#inTime(signal, (limited) => this.#address(limited));
    return `${this.#server.text} is ${address}; over UDP nobody can tell whether anything arrives there`;
  }

  close(): void {}

  #handOver(socket: Socket, message: Uint8Array, address: string): Promise<Outcome> {
    return new Promise((resolve) => {
      socket.send(message, this.#server.port, address, (error) => resolve(error ? syslogFault(error, this.#parts.place) : 'accepted'));
    });
  }

  #address(signal: AbortSignal): Promise<string> {
    const lookup = checkedLookup(serverGuard(this.#parts.place), this.#parts.resolve);
    const found = new Promise<string>((resolve, reject) => {
      lookup(this.#server.host, {}, (error, address) => (error ? reject(error) : resolve(String(address))));
    });
    return orAbort(found, signal);
  }

  async #inTime<T>(signal: AbortSignal, work: (limited: AbortSignal) => Promise<T>): Promise<T> {
    const { deps, place, timeoutMs } = this.#parts;
    const limit = deadline(deps, timeoutMs, () => timeoutFault(place, timeoutMs), signal);
    return await work(limit.signal).finally(limit.cancel);
  }
}
