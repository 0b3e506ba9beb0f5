// A stream → a pino logger that never blocks on it (docs/operate/logs.md).
import type { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { visible } from '../formats/visible-text.ts';
import { BoundedLines } from './bounded-lines.ts';
import { cutTexts } from './cut-texts.ts';
import { serializeError } from './error-serializer.ts';
import type { LogLevel } from './options.ts';

export interface LoggerOptions {
  /** Never awaited, never ended. */
  readonly stream: Writable;
  /** `info` by default. */
  readonly level?: LogLevel;
  /** Readable lines instead of JSON. */
  readonly pretty: boolean;
  /** What may wait in the stream before lines are dropped: 1 MiB by default. */
  readonly bufferBytes?: number;
  /** The wall clock: every line's `time`. */
  readonly wallMs: () => number;
}

interface Logging {
  readonly logger: Logger;
  /** Lines dropped since the start, because the earlier ones were not read. */
  readonly dropped: () => number;
  /** Of this logger and of all that were made of it; one that was made with a level of its own keeps that. */
  readonly setLevel: (level: LogLevel) => void;
}

/** Names under which a secret or a payload might be logged by mistake, at the top of a line or one level down. */
const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'token',
  'tokens',
  'secret',
  'secrets',
  'password',
  'key',
  'body',
  'payload',
  'bytes',
];

/** Loads the pretty printer only where it is asked for. */
export async function createLogger(options: LoggerOptions): Promise<Logging> {
  const prettify = options.pretty ? (await import('./pretty-lines.ts')).prettyLines() : visible;
  const lines = new BoundedLines(options.stream, options.bufferBytes ?? 1024 ** 2, (dropped) => {
    logger.warn({ area: 'log', dropped }, 'log lines were dropped: whoever reads them was too slow');
  });
  let level = options.level ?? 'info';
  const children = new Set<WeakRef<Logger>>();
  const logger: Logger = pino(
    {
      level,
      // A child has the level that its parent had when it was made.
      onChild: (child: Logger) => {
        if (child.level === level) children.add(new WeakRef(child));
      },
      base: null,
      timestamp: () => `,"time":"${new Date(options.wallMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: cutTexts },
      serializers: { err: (error: unknown) => serializeError(error, level === 'debug' || level === 'trace') },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '[secret]' },
    },
    { write: (line: string) => lines.write(prettify(line)) },
  );
  const setLevel = (next: LogLevel) => {
    level = next;
    logger.level = next;
    for (const reference of children) {
      const child = reference.deref();
      if (child === undefined) children.delete(reference);
      else child.level = next;
    }
  };
  return { logger, dropped: () => lines.dropped, setLevel };
}
