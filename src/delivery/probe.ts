// The rows of a sink that fails as a whole → the one delivery that tests whether it works again.
import type { Delivery } from '../model/deliveries.ts';
import type { Moment } from './backoff.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { KeyBackoff } from './key-backoff.ts';
import type { QueueReader } from './queue/queue-reader.ts';

/** So many queued rows are looked at to tell how urgent the next probe is. */
const SAMPLE = 100;

/**
 * Of each key in turn, so that one that the sink refuses to take does not hide that it takes others; those that failed least come
 * first, so that they do not wait behind keys that fail. Null where nothing is queued.
 */
export function nextProbe({ keys, breaker, longEnded }: Dispatcher, supply: QueueReader, now: Moment): Delivery | null {
  if (keys.isFull) keys.forget();
  const urgent = nextUrgent({ keys, breaker }, supply, now);
  if (urgent) {
    breaker.probing({ isUrgent: true, longEnded: false });
    keys.markTried(urgent.partitionKey, 'alive');
    return urgent;
  }
  let rows = supply.rows(keys.notToProbe(), SAMPLE);
  if (rows.length === 0 && keys.newRound()) rows = supply.rows(keys.notToProbe(), SAMPLE);
  const row = leastTroubled(rows, keys, supply);
  if (!row) {
    keys.forget();
    return null;
  }
  const isAlive = (each: Delivery) => !longEnded.has(each, now);
  const isAnyAlive = rows.length === SAMPLE || keys.hasTriedAlive || rows.some(isAlive);
  breaker.probing({ isUrgent: false, longEnded: !isAnyAlive });
  keys.markTried(row.partitionKey, isAlive(row) ? 'alive' : 'long ended');
  return row;
}

/**
 * One that has not taken its turn comes before everything else. One that has, and whose own back-off has passed, is every other probe at most:
 * it must not hide that the sink takes others.
 */
function nextUrgent({ keys, breaker }: Pick<Dispatcher, 'keys' | 'breaker'>, supply: QueueReader, now: Moment): Delivery | undefined {
  const [untried] = supply.urgentRows(() => keys.notToProbe(), 1);
  if (untried || breaker.hasProbedUrgent) return untried;
  return supply.urgentRows(() => keys.blocked(now.elapsedMs), 1)[0];
}

/** The first row of the key that failed least often in a row: among these rows, or one of a key that never failed behind them. */
function leastTroubled(rows: readonly Delivery[], keys: KeyBackoff, supply: QueueReader): Delivery | undefined {
  const least = Math.min(...rows.map(({ partitionKey }) => keys.failuresOf(partitionKey)));
  const behind = least > 0 && rows.length === SAMPLE ? supply.rows(keys.notToProbeFirst(), 1)[0] : undefined;
  return behind ?? rows.find(({ partitionKey }) => keys.failuresOf(partitionKey) === least);
}
