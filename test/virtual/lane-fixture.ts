// A store in memory and a scripted adapter → a lane in virtual time, and what it logged.
import { pino } from 'pino';
import { Lane, type LaneOptions } from '../../src/delivery/lane.ts';
import type { AttemptReport, LaneStatus } from '../../src/delivery/lane-report.ts';
import { MemoryLaneStore } from './memory-lane-store.ts';
import { type Answer, accept, ScriptedAdapter } from './scripted-adapter.ts';
import { VirtualTime } from './virtual-time.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface LaneFixtureOptions {
  readonly answer?: Answer;
  readonly limits?: Partial<ScriptedAdapter['limits']>;
  readonly maxAgeMs?: number;
  readonly cancels?: boolean;
  readonly time?: VirtualTime;
  readonly store?: MemoryLaneStore;
  readonly name?: string;
  readonly heldKeys?: LaneOptions['heldKeys'];
  /** Drawn in the place of chance: 1 is the whole of each back-off's ceiling. */
  readonly random?: () => number;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export const INFO = 30;
export const WARN = 40;

export function laneFixture(options: LaneFixtureOptions = {}) {
  const time = options.time ?? new VirtualTime();
  const store = options.store ?? new MemoryLaneStore(time.wallMs);
  const adapter = new ScriptedAdapter(options.answer ?? accept, options.limits);
  const logs: LogLine[] = [];
  const attempts: AttemptReport[] = [];
  const statuses: LaneStatus[] = [];
  const name = options.name ?? 'hooks';
  const logger = pino({ level: 'debug' }, { write: (line: string) => logs.push(JSON.parse(line)) });
  const { wallMs, elapsedMs, after, random, scheduler } = time;
  const laneOptions: LaneOptions = {
    name,
    adapter,
    store,
    deps: { wallMs, elapsedMs, after, scheduler, random: options.random ?? random },
    logger,
    onAttempt: (report) => attempts.push(report),
    onState: (status) => statuses.push(status),
    ...(options.cancels !== undefined && { cancels: options.cancels }),
    ...(options.heldKeys !== undefined && { heldKeys: options.heldKeys }),
    ...(options.maxAgeMs === undefined ? {} : { retry: { maxAgeMs: options.maxAgeMs } }),
  };
  const lane = new Lane(laneOptions);
  return {
    time,
    store,
    adapter,
    lane,
    logs,
    attempts,
    statuses,
    queue: (key: string, given = {}) => {
      const row = store.queue(name, key, given);
      lane.wake();
      return row;
    },
    acceptedIds: () => store.accepted.map(({ id }) => id),
    /** When each call of a key began, in elapsed milliseconds, from here on. */
    watch: () => {
      const at: { key: string; ms: number }[] = [];
      const { answer } = adapter;
      adapter.answer = (batch, signal, superseded) => {
        for (const { partitionKey } of batch) at.push({ key: partitionKey, ms: time.elapsedMs() });
        return answer(batch, signal, superseded);
      };
      return at;
    },
  };
}
