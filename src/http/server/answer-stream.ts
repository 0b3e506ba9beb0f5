// A response whose head was sent → an answer without an end, and what its socket has not taken.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AnswerStream } from '../route.ts';
import type { Connection } from './connections.ts';

/**
 * Past the response and its gate, which cost each piece more than the socket does: the body is not chunked, the head has gone through, and
 * nothing else is answered on this connection.
 */
export function answerStream(response: ServerResponse, socket: Socket, connection: Connection): AnswerStream {
  return {
    write: (bytes) => socket.write(bytes),
    get unsentBytes() {
      return socket.writableLength;
    },
    onDrain: (run) => void socket.on('drain', run),
    onClose: (run) => void response.once('close', run),
    end: () => void response.end(),
    drop: () => connection.drop('unread'),
  };
}
