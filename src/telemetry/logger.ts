// A stream → a pino logger that never waits for it (docs/operate/logs.md).
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
  /** The size of the buffer; beyond it, lines are dropped. 1 MiB by default. */
  readonly bufferBytes?: number;
  /** The wall clock, for the field `time`. */
  readonly wallMs: () => number;
}

interface Logging {
  readonly logger: Logger;
  /** Returns the number of lines dropped since the start. */
  readonly dropped: () => number;
  /** Sets the level of this logger and its children, except children that were created with another level. */
  readonly setLevel: (level: LogLevel) => void;
}

/** Names of fields that might contain a secret or a payload by mistake, at the top of a line or one level down. */
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

/** Loads the pretty printer only if `pretty` is set. */
export async function createLogger(options: LoggerOptions): Promise<Logging> {
  const prettify = options.pretty ? (await import('./pretty-lines.ts')).prettyLines() : visible;
  const lines = new BoundedLines(options.stream, options.bufferBytes ?? 1024 ** 2, (dropped) => {
    logger.warn({ area: 'log', dropped }, 'log lines were dropped: the reader of the log is too slow');
  });
  let level = options.level ?? 'info';
  const children = new Set<WeakRef<Logger>>();
  const logger: Logger = pino(
    {
      level,
      // Without its own level, a child starts with the level of its parent.
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
