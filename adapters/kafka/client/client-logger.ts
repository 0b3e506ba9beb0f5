// kafkajs's log lines → the bridge's log: selected fields only; repeated lines at debug.
import type { LogEntry, logCreator, logLevel } from 'kafkajs';
import type { Logger } from 'pino';
import type { Deps } from '../../../src/time/clock.ts';

/** A repeated line within this time goes to debug. */
const QUIET_MS = 600_000;
/** Maximum number of remembered lines. */
const MAX_REMEMBERED_LINES = 200;
const LONGEST_TEXT = 500;
/**
 * Lines for debug. An error that a broker answered: the caller gets it, and it may be expected, such as a missing topic
 * before its creation. The warning about retries: an idempotent producer is not used after a failed request, so it
 * needs none. And a name that cannot be resolved: the error of the sink or source says so in words.
 */
const DEBUG_LINES = /^Response |^Limiting retries for the idempotent producer |: getaddrinfo /;

/**
 * Numbers and names. Never `data`, `payload` or `sasl`, which may contain records and credentials, and never a stack.
 */
const FIELDS = ['broker', 'correlationId', 'size', 'groupId', 'memberId', 'topic', 'partition', 'retryCount', 'error'];

/** kafkajs's levels as numbers; its own constant would load the library. */
const LEVEL = { nothing: 0, error: 1, warn: 2, info: 4, debug: 5 } as const;

/** Returns kafkajs's log level: it formats every line of its level, even if the line is dropped later. */
export function levelFor(logger: Logger): logLevel {
  if (logger.isLevelEnabled('trace')) return LEVEL.debug;
  return logger.isLevelEnabled('debug') ? LEVEL.info : LEVEL.warn;
}

/**
 * Returns a log creator. Errors and warnings become warnings, once in ten minutes for each text, because the caller
 * gets the error anyway. Repeated ones, answers, intended warnings and information go to debug, everything else to
 * trace.
 */
export function clientLogger(logger: Logger, { elapsedMs }: Pick<Deps, 'elapsedMs'>): logCreator {
  const lastLogged = new Map<string, number>();
  const isNew = (text: string) => {
    const now = elapsedMs();
    const topic = text.replaceAll(/\d+/g, '#');
    const before = lastLogged.get(topic);
    if (before !== undefined && now - before < QUIET_MS) return false;
    lastLogged.delete(topic);
    lastLogged.set(topic, now);
    const [oldest] = lastLogged.keys();
    if (lastLogged.size > MAX_REMEMBERED_LINES && oldest !== undefined) lastLogged.delete(oldest);
    return true;
  };
  return () =>
    ({ namespace, level, log }: LogEntry) => {
      const text = `kafkajs: ${namespace === '' ? '' : `${namespace}: `}${shown(log.message)}`;
      const fields = Object.fromEntries(FIELDS.flatMap((key) => field(key, log[key])));
      if (level === LEVEL.debug) logger.trace(fields, text);
      else if (
        level <= LEVEL.warn &&
        !DEBUG_LINES.test(log.message) &&
        isNew(`${text} ${String(fields['error'] ?? '')}`)
      )
        logger.warn(fields, text);
      else logger.debug(fields, text);
    };
}

function field(key: string, value: unknown): [string, string | number][] {
  if (typeof value === 'number') return [[key, value]];
  return typeof value === 'string' ? [[key, shown(value)]] : [];
}

/** Returns a text of limited length. kafkajs also passes errors as messages. */
function shown(value: unknown): string {
  return (value instanceof Error ? value.message : String(value)).slice(0, LONGEST_TEXT);
}
