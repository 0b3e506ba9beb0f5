// Lines of standard input → stop and reload, for service managers of systems without signals.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

interface Controls {
  readonly stop: () => void;
  readonly reload: () => void;
}

/** `stop` and `reload`, each on a line of its own; others mean nothing. Its end means to stop, too: whoever held the other end is gone. */
export function followControlLines(input: Readable, { stop, reload }: Controls): void {
  const lines = createInterface({ input });
  lines.on('line', (line) => {
    if (line === 'stop') stop();
    if (line === 'reload') reload();
  });
  lines.on('close', stop);
  lines.on('error', stop);
}
