// Lines of standard input → stop and reload, for service managers that cannot send signals.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

interface Controls {
  readonly stop: () => void;
  readonly reload: () => void;
}

/**
 * Reads `stop` and `reload`, one on each line; ignores other lines. The end of the input stops too, because the service
 * manager is gone.
 */
export function followControlLines(input: Readable, { stop, reload }: Controls): void {
  const lines = createInterface({ input });
  lines.on('line', (line) => {
    if (line === 'stop') stop();
    if (line === 'reload') reload();
  });
  lines.on('close', stop);
  lines.on('error', stop);
}
