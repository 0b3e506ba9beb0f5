// The ports that a page names → free ports of this machine with the same last digit.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { accepts } from '../far-sides/syslog/syslog-daemon.ts';
import { poll } from '../support/poll.ts';

/** The first three digits of a port on loopback: 808 for 127.0.0.1:8081, and for 127.0.0.1:808$N of a loop. */
const TENS = /(?<=127\.0\.0\.1:|listen\(|port\(|port=")\d{3}/g;
const PATIENCE_MS = 60_000;

/**
 * Below the ports that the system gives out, so that a killed program finds its own again. Each process begins
 * elsewhere.
 */
let nextTen = 1000 + (process.pid % 500) * 4;

export class PagePorts {
  readonly #tens = new Map<string, number>();

  /** Finds free ports for all that the text names. */
  async claim(text: string): Promise<void> {
    for (const [ten] of text.matchAll(TENS)) if (!this.#tens.has(ten)) this.#tens.set(ten, await freeTen());
  }

  /** The text with the claimed ports in it. */
  here(text: string): string {
    return text.replaceAll(TENS, (ten) => String(this.#tens.get(ten) ?? ten));
  }

  /** Resolves when a program accepts connections on the page's port. */
  async accepts(port: string, what: () => string): Promise<void> {
    const ours = Number(`${this.#tens.get(port.slice(0, 3)) ?? ''}${port.slice(3)}`);
    await poll(
      () => accepts(ours),
      () => `port ${port}: ${what()}`,
      PATIENCE_MS,
    );
  }
}

/** Returns the common digits of ten free ports: 1234 for 12340 to 12349. */
async function freeTen(): Promise<number> {
  for (;;) {
    const ten = nextTen++;
    const isFree = await Promise.all(Array.from({ length: 10 }, (_, digit) => isFreePort(ten * 10 + digit)));
    if (!isFree.includes(false)) return ten;
  }
}

async function isFreePort(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (listens) await once(server.close(), 'close');
  return listens;
}
