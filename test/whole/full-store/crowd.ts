// A port and paths → 400 connections that ask for them again and again; half of them read.
import { setTimeout as pause } from 'node:timers/promises';
import { RawConnection } from '../../support/raw-connection.ts';

/** More than one address may have. */
const CONNECTIONS = 400;
const ADDRESSES = 200;
const AGAIN_MS = 200;

export interface Crowd {
  /** How many answers have begun to come, by those connections that read. */
  readonly answered: () => number;
  readonly leave: () => void;
}

/**
 * Until it leaves. A connection that is closed is opened again: by the bridge, behind an answer, or because nobody
 * reads it.
 */
export function crowd(port: number, paths: readonly string[]): Crowd {
  const connections = new Set<RawConnection>();
  let isOver = false;
  let answered = 0;
  const open = (index: number) => {
    if (isOver) return;
    const connection = new RawConnection(port, { localAddress: `127.0.${1 + (index % ADDRESSES)}.1` });
    const { socket } = connection;
    connections.add(
      connection.send(`GET ${paths[index % paths.length]} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
    );
    // Of the two of an address, one reads.
    if (index < CONNECTIONS / 2) socket.once('data', () => answered++).resume();
    socket.once('close', () => {
      connections.delete(connection);
      void pause(AGAIN_MS).then(() => open(index));
    });
  };
  for (let index = 0; index < CONNECTIONS; index++) open(index);
  return {
    answered: () => answered,
    leave: () => {
      isOver = true;
      for (const { socket } of connections) socket.destroy();
    },
  };
}
