// A response whose head was sent → an answer without an end, and what its socket has not taken.
import type { ServerResponse } from 'node:http';
import type { AnswerStream } from '../route.ts';
import type { Connection } from './connections.ts';

export function answerStream(response: ServerResponse, connection: Connection): AnswerStream {
  return {
    write: (bytes) => response.write(bytes),
    get unsentBytes() {
      return response.writableLength;
    },
    onDrain: (run) => void response.on('drain', run),
    onClose: (run) => void response.once('close', run),
    end: () => void response.end(),
    drop: () => connection.drop('unread'),
  };
}
