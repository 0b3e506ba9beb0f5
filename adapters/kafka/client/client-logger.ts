// kafkajs's log lines → our log: few chosen fields; repeated lines at debug.
import type { LogEntry, logCreator, logLevel } from 'kafkajs';
import type { Logger } from 'pino';
import type { Deps } from '../../../src/time/clock.ts';

/** What is said again within this time goes to debug. */
const QUIET_MS = 600_000;
/** So many different things are remembered. */
const MOST_REMEMBERED = 200;
const LONGEST_TEXT = 500;
/**
 * An error that a broker answered: who asked gets it, and it may be what was expected, as of a topic that is about to be made. And a warning of
 * what is meant so: an idempotent producer is not used again behind a request that failed, so it needs no retries.
 */
const NO_NEWS = /^Response |^Limiting retries for the idempotent producer /;

/** Numbers and names. Never `data`, `payload` or `sasl`, which hold records and what passwords are made of, and never a stack. */
const FIELDS = ['broker', 'correlationId', 'size', 'groupId', 'memberId', 'topic', 'partition', 'retryCount', 'error'];

/** kafkajs's levels as numbers; its own constant cannot be had without loading it. */
const LEVEL = { nothing: 0, error: 1, warn: 2, info: 4, debug: 5 } as const;

/** How much kafkajs has to say at all: at each level it makes what it logs before anybody can drop it. */
export function levelFor(logger: Logger): logLevel {
  if (logger.isLevelEnabled('trace')) return LEVEL.debug;
  return logger.isLevelEnabled('debug') ? LEVEL.info : LEVEL.warn;
}

/**
 * Errors and warnings become warnings, once for each thing in ten minutes, since the caller gets the failure anyway; the rest of
 * them, answers, warnings about what we do on purpose and information go to debug, all else to trace.
 */
export function clientLogger(logger: Logger, { elapsedMs }: Pick<Deps, 'elapsedMs'>): logCreator {
  const said = new Map<string, number>();
  const isNews = (text: string) => {
    const now = elapsedMs();
    const topic = text.replaceAll(/\d+/g, '#');
    const before = said.get(topic);
    if (before !== undefined && now - before < QUIET_MS) return false;
    said.delete(topic);
    said.set(topic, now);
    const [oldest] = said.keys();
    if (said.size > MOST_REMEMBERED && oldest !== undefined) said.delete(oldest);
    return true;
  };
  return () =>
    ({ namespace, level, log }: LogEntry) => {
      const text = `kafkajs: ${namespace === '' ? '' : `${namespace}: `}${shown(log.message)}`;
      const fields = Object.fromEntries(FIELDS.flatMap((key) => field(key, log[key])));
      if (level === LEVEL.debug) logger.trace(fields, text);
      else if (level <= LEVEL.warn && !NO_NEWS.test(log.message) && isNews(`${text} ${String(fields['error'] ?? '')}`))
        logger.warn(fields, text);
      else logger.debug(fields, text);
    };
}

function field(key: string, value: unknown): [string, string | number][] {
  if (typeof value === 'number') return [[key, value]];
  return typeof value === 'string' ? [[key, shown(value)]] : [];
}

/** kafkajs passes errors as messages too. */
function shown(value: unknown): string {
  return (value instanceof Error ? value.message : String(value)).slice(0, LONGEST_TEXT);
}
