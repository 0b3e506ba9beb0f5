// What a program said last → lines of the log.
import type { Logger } from 'pino';
import type { OutputTail } from './output-tail.ts';

interface Told {
  /** `info` for a run that went well, else `warn`. */
  readonly wentWell: boolean;
  /** Texts that are not shown. */
  readonly hidden: readonly string[];
  /** Of the CloudEvent. */
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
