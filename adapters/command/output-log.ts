// What a program said last → lines of the log.
import type { Logger } from 'pino';
import type { OutputTail } from './output-tail.ts';

/** `info` for a run that went well, else `warn`. @param id of the CloudEvent */
export function logOutputs(
  outputs: { readonly stdout: OutputTail; readonly stderr: OutputTail },
  wentWell: boolean,
  id: string,
  logger: Logger,
): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    for (const line of outputs[stream].lines()) {
      const fields = { area: 'delivery', id, stream, line };
      if (wentWell) logger.info(fields, 'the program said');
      else logger.warn(fields, 'the program said');
    }
  }
}
