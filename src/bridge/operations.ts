// The operators' routes → the store and the lanes, with each action logged and recorded.
import type { Logger } from 'pino';
import { toRfc3339 } from '../formats/dates.ts';
import type { OperatorActions } from '../http/operators/sink-routes.ts';
import type { RunningWork } from '../model/deliveries.ts';
import type {
  DeadLetterPage,
  DeadLetterRange,
  JournalPage,
  JournalRange,
  OperatorAct,
  RunningView,
  SinkView,
} from '../model/operators.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Deps } from '../time/clock.ts';
import { untilNextTurn } from '../time/turn.ts';
import type { Sinks } from './sinks.ts';

interface OperationsParts {
  readonly outbox: Outbox;
  readonly sinks: Pick<Sinks, 'types' | 'status' | 'running' | 'wake'>;
  readonly deps: Pick<Deps, 'wallMs'>;
  readonly logger: Logger;
}

export class Operations implements OperatorActions {
  readonly #parts: OperationsParts;
  readonly #logger: Logger;

  constructor(parts: OperationsParts) {
    this.#parts = parts;
    this.#logger = parts.logger.child({ area: 'operators' });
  }

  sinks(): readonly SinkView[] {
    const running = this.#parts.sinks.running();
    return [...this.#parts.sinks.types()].map(([name, type]) => this.#view(name, type, running));
  }

  pause(sink: string, by: string): Promise<SinkView | null> {
    const { outbox, deps } = this.#parts;
    const atMs = deps.wallMs();
    return this.#change(sink, by, 'pause', (note) => outbox.queue.pause(sink, { by, atMs }, note));
  }

  resume(sink: string, by: string): Promise<SinkView | null> {
    return this.#change(sink, by, 'resume', (note) => this.#parts.outbox.queue.resume(sink, note));
  }

  deadLetters(range: DeadLetterRange): DeadLetterPage {
    return this.#parts.outbox.deadLetters.page(range);
  }

  decide(
    act: 'retry' | 'discard',
    sink: string,
    ids: readonly string[],
    by: string,
  ): number | readonly string[] | null {
    const { outbox, sinks } = this.#parts;
    // The dead letters of a removed sink can be discarded, but not retried.
    if (!sinks.types().has(sink) && (act === 'retry' || outbox.queue.backlog(sink).dead === 0)) return null;
    let done = 0;
    const unknown = outbox.deadLetters.decide(act, sink, ids, (count) => {
      done = count;
      this.#note({ operator: by, act, subject: sink, detail: { count, ids } });
    });
    if (unknown !== null) return unknown;
    this.#logger.info(
      { operator: by, sink, count: done },
      act === 'retry' ? 'dead letters queued again' : 'dead letters discarded',
    );
    if (act === 'retry') sinks.wake();
    return done;
  }

  journal(range: JournalRange): JournalPage {
    return this.#parts.outbox.journalPages.page(range);
  }

  running(): ReadonlyMap<number, RunningView> {
    const running = [...this.#parts.sinks.running().values()].flat();
    return new Map(running.map((work) => [work.seq, viewOf(work)]));
  }

  /** Records a reload that was applied; `Reloads` logs it. */
  reloaded(by: string, changed: readonly string[]): void {
    this.#note({ operator: by, act: 'reload', subject: null, detail: { changed } });
  }

  async #change(
    sink: string,
    by: string,
    act: 'pause' | 'resume',
    work: (note: () => void) => unknown,
  ): Promise<SinkView | null> {
    const { sinks } = this.#parts;
    const type = sinks.types().get(sink);
    if (type === undefined) return null;
    work(() => this.#note({ operator: by, act, subject: sink, detail: {} }));
    this.#logger.info(
      { operator: by, sink },
      act === 'pause' ? 'an operator paused the sink' : 'an operator resumed the sink',
    );
    sinks.wake();
    // The lane has the new state already.
    await untilNextTurn();
    return this.#view(sink, type);
  }

  #note(act: Omit<OperatorAct, 'atMs'>): void {
    this.#parts.outbox.operatorActs.add({ ...act, atMs: this.#parts.deps.wallMs() });
  }

  #view(name: string, type: string, running = this.#parts.sinks.running()): SinkView {
    const { outbox, sinks } = this.#parts;
    const { queued, oldestQueuedAtMs, dead } = outbox.queue.backlog(name);
    const { pause, lastAcceptedAtMs, lastError } = outbox.queue.record(name);
    const state =
      pause !== null
        ? 'paused'
        : (sinks.status().get(name)?.state ?? (outbox.queue.retirement(name) ? 'retired' : 'delivering'));
    return {
      ...{ name, type, state, queued },
      oldestAt: oldestQueuedAtMs === null ? null : toRfc3339(oldestQueuedAtMs),
      lastAcceptedAt: lastAcceptedAtMs === null ? null : toRfc3339(lastAcceptedAtMs),
      lastError: lastError && { code: lastError.code, message: lastError.message, at: toRfc3339(lastError.atMs) },
      deadLetters: dead,
      running: (running.get(name) ?? []).map((work) => ({ eventId: work.eventId, ...viewOf(work) })),
    };
  }
}

function viewOf({ sinceMs, attempt, last }: RunningWork): RunningView {
  return { since: toRfc3339(sinceMs), attempt, last };
}
