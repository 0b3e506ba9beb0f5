// The last output of a program → lines of the log.
import type { Logger } from 'pino';
import type { OutputTail } from './output-tail.ts';

interface Told {
  /** Logs with `info` if true, else `warn`. */
  readonly wentWell: boolean;
  /** Texts that must not be logged. */
  readonly hidden: readonly string[];
  /** The id of the CloudEvent. */
  readonly id: string;
}

export function logOutputs(
  outputs: { readonly stdout: OutputTail; readonly stderr: OutputTail },
  { wentWell, hidden, id }: Told,
  logger: Logger,
): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    for (const line of outputs[stream].lines(hidden)) {
      const fields = { id, stream, line };
      if (wentWell) logger.info(fields, 'the program said');
      else logger.warn(fields, 'the program said');
    }
  }
}
