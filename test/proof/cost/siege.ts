// A port and requests → connections that send them again and again, from many addresses; half read.
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { mulberry32 } from '../../support/mulberry32.ts';
import { RawConnection } from '../../support/raw-connection.ts';

const CONNECTIONS = 200;
/** An address may have at most 256 connections that wait, so no address is refused. */
const ADDRESSES = 100;
const AGAIN_MS = 100;
/** A connection that is neither answered nor closed makes room for the next request. */
const STAY_MS = 2000;

interface Order {
  readonly port: number;
  readonly requests: readonly Uint8Array[];
  readonly seed: number;
  /** How many requests were sent, and how many connections of those that read got an answer. */
  readonly counts: Int32Array;
}

export interface Siege {
  readonly sent: () => number;
  readonly answered: () => number;
  readonly end: () => Promise<unknown>;
}

/** In a thread of its own, so that those who measure are not busy with it. @param seed of which connection sends what */
export function besiege(port: number, requests: readonly Buffer[], seed: number): Siege {
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const workerOrder: Order = { port, requests, seed, counts };
  const worker = new Worker(new URL(import.meta.url), { workerData: workerOrder });
  return { sent: () => counts[0] ?? 0, answered: () => counts[1] ?? 0, end: () => worker.terminate() };
}

function storm({ port, requests, seed, counts }: Order): void {
  const draw = mulberry32(seed);
  const next = (index: number) => {
    const connection = new RawConnection(port, { localAddress: `127.0.${1 + (index % ADDRESSES)}.2` });
    const { socket } = connection;
    // The first ones take every request once.
    const sent = Atomics.add(counts, 0, 1);
    connection.send(requests[sent < requests.length ? sent : Math.floor(draw() * requests.length)] as Uint8Array);
    if (index % 2 === 0) socket.once('data', () => Atomics.add(counts, 1, 1)).resume();
    const stay = setTimeout(() => socket.destroy(), STAY_MS);
    socket.once('close', () => {
      clearTimeout(stay);
      void pause(AGAIN_MS).then(() => next(index));
    });
  };
  for (let index = 0; index < CONNECTIONS; index++) next(index);
}

if (!isMainThread && parentPort !== null) storm(workerData as Order);
