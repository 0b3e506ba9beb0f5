// A log line of JSON → one for people. Heavy: import it lazily.
// The bundle gives a package imported lazily as `default` alone; imported from here it keeps its names.
import { prettyFactory } from 'pino-pretty';

/** @returns what turns one line into another, in colours. */
export function prettyLines(): (line: string) => string {
  return prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
}
