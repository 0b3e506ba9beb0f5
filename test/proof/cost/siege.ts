// A port and requests → connections that send them again and again, from many addresses; half read.
import { setTimeout as pause } from 'node:timers/promises';
import { RawConnection } from '../../support/raw-connection.ts';

const CONNECTIONS = 200;
/** An address may have at most 256 connections that wait, so no address is refused. */
const ADDRESSES = 100;
const AGAIN_MS = 100;
/** A connection that is neither answered nor closed makes room for the next request. */
const STAY_MS = 2000;

export interface Siege {
  /** How many requests were sent so far. */
  readonly sent: () => number;
  /** How many connections of those that read got an answer. */
  readonly answered: () => number;
  readonly end: () => void;
}

/** @param draw chooses which connection sends what: at least 0, below 1 */
export function besiege(port: number, requests: readonly Buffer[], draw: () => number): Siege {
  const open = new Set<RawConnection>();
  let isOver = false;
  let [sent, answered] = [0, 0];
  const next = (index: number) => {
    if (isOver) return;
    const connection = new RawConnection(port, { localAddress: `127.0.${1 + (index % ADDRESSES)}.2` });
    const { socket } = connection;
    // The first ones take every request once.
    const request = requests[sent < requests.length ? sent : Math.floor(draw() * requests.length)] as Buffer;
    sent += 1;
    open.add(connection.send(request));
    if (index % 2 === 0) socket.once('data', () => answered++).resume();
    const stay = setTimeout(() => socket.destroy(), STAY_MS);
    socket.once('close', () => {
      clearTimeout(stay);
      open.delete(connection);
      void pause(AGAIN_MS).then(() => next(index));
    });
  };
  for (let index = 0; index < CONNECTIONS; index++) next(index);
  return {
    sent: () => sent,
    answered: () => answered,
    end: () => {
      isOver = true;
      for (const { socket } of open) socket.destroy();
    },
  };
}
