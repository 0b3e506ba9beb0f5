// The kind `command`: options → an adapter that runs a program for each CloudEvent.
import { unencodable } from '../../src/cloudevents/unencodable.ts';
import type { Delivery, RunningWork } from '../../src/model/deliveries.ts';
import { orAbort } from '../../src/time/clock.ts';
import { Running } from '../../src/time/running.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, LeftBehindDeps, Outcome } from '../adapter.ts';
import {
  type CommandPlace,
  cutShortFault,
  exitFault,
  runTimeoutFault,
  stillRunsFault,
  tooLateFault,
} from './command-fault.ts';
import {
  type CommandOptions,
  commandApprover,
  commandOptions,
  secretValues,
  variableFaults,
} from './command-options.ts';
import { FormerRuns } from './former-runs.ts';
import { hiddenTexts } from './output-tail.ts';
import { type GroupSystem, groupSystem, ProcessGroup, WINDOWS_FOLDER } from './process-group.ts';
import { Processes } from './processes.ts';
import { programFiles } from './program-files.ts';
import { ProgramSetting, type Setting } from './program-setting.ts';
import { type EventVariables, eventVariables } from './run-environment.ts';
import { RunLog } from './run-log.ts';
import { MARK, RunNotes } from './run-notes.ts';
import { type RunningProgram, startProgram } from './running-program.ts';
import { type Limits, type RunEnd, supervise } from './supervise.ts';

/** Added to the limit of a run: the time to end an earlier run, and then this one. */
const CALL_SLACK_MS = 30_000;
/** TERM, 5 s, KILL, and some time for a busy machine. */
const CLOSE_MS = 7_000;
const BATCH_BYTES = 1024 ** 2;
/** The changes that ask for preparation. Only their runs can approve, and only they have a `beforeStart`. */
const PREPARES: ReadonlySet<string> = new Set(['scheduled', 'updated']);
const LEFT =
  'the program could not be ended and continues after the bridge: end its process group, which has the number `pid`';
const SUPERSEDED: Outcome = { result: 'accepted', status: 'superseded' };

class CommandAdapter implements Adapter {
  readonly limits: AdapterLimits;
  readonly #options: CommandOptions;
  readonly #deps: AdapterDeps;
  readonly #place: CommandPlace;
  readonly #system: GroupSystem;
  readonly #setting: ProgramSetting;
  readonly #notes: RunNotes;
  readonly #former: FormerRuns;
  readonly #log: RunLog;
  readonly #running = new Running();
  /** By delivery. */
  readonly #programs = new Map<number, () => RunningWork>();

  constructor(options: CommandOptions, deps: AdapterDeps, platform: NodeJS.Platform = process.platform) {
    const { run, timeout, concurrency } = options;
    // A program that runs for 50 s must not delay one whose event starts in 30 s.
    this.limits = {
      inFlight: concurrency,
      urgentInFlight: concurrency,
      batch: 1,
      batchBytes: BATCH_BYTES,
      callMs: timeout + CALL_SLACK_MS,
      closeMs: CLOSE_MS,
    };
    this.#options = options;
    this.#deps = deps;
    this.#place = { sink: deps.name, program: run[0] as string };
    this.#system = groupSystem(platform, new Processes(), deps.env['SystemRoot'] ?? WINDOWS_FOLDER);
    this.#setting = new ProgramSetting(options, deps, this.#place, platform);
    this.#notes = new RunNotes(deps.notes, deps.random);
    this.#former = new FormerRuns(this.#notes, this.#system, deps);
    this.#log = new RunLog(deps.logger);
  }

  start(): Promise<void> {
    return this.#running.track(this.#former.endAll());
  }

  check(signal: AbortSignal): Promise<string | null> {
    return orAbort(this.#setting.check(), signal);
  }

  deliver(batch: readonly Delivery[], signal: AbortSignal, superseded?: AbortSignal): Promise<readonly Outcome[]> {
    const runs = batch.map((delivery) => this.#running.track(this.#deliver(delivery, signal, superseded)));
    return orAbort(Promise.all(runs), signal);
  }

  running(): readonly RunningWork[] {
    return [...this.#programs.values()].map((work) => work());
  }

  close(): Promise<void> {
    return this.#running.ended();
  }

  async #deliver(delivery: Delivery, stop: AbortSignal, superseded: AbortSignal | undefined): Promise<Outcome> {
    const event = this.#read(delivery);
    const left = await this.#former.end(delivery.partitionKey);
    if (left !== null) throw stillRunsFault(this.#place, left);
    const setting = await this.#setting.now();
    const boot = await this.#system.processes.bootId();
    stop.throwIfAborted();
    if (superseded?.aborted) return SUPERSEDED;
    const limit = this.#limitOf(delivery, event);
    const { attempt, mark } = this.#notes.begin(delivery, boot);
    const own = { BRIDGE_ATTEMPT: String(attempt), [MARK]: mark };
    const program = await this.#start(delivery, { ...setting, env: { ...setting.env, ...event.variables, ...own } });
    const group = new ProcessGroup(program.pid, this.#system, this.#deps);
    const noted = this.#noteStart(delivery.seq, program.pid);
    this.#show(delivery, event, attempt, program);
    const end = await supervise(program, group, { limit, stop, superseded }, this.#deps);
    this.#programs.delete(delivery.seq);
    await noted;
    return this.#concluded(delivery, program, end);
  }

  #show({ seq }: Delivery, { variables }: EventVariables, attempt: number, { outputs }: RunningProgram): void {
    const began = { seq, eventId: variables['EVENT_ID'] ?? null, sinceMs: this.#deps.wallMs(), attempt };
    this.#programs.set(seq, () => ({ ...began, last: outputs.lastLine(this.#hidden) }));
  }

  /** The texts that neither the log nor an operator may see, the longest first, because one may contain another. */
  get #hidden(): readonly string[] {
    return hiddenTexts([...secretValues(this.#options), ...this.#deps.secrets()]);
  }

  #read(delivery: Delivery): EventVariables {
    try {
      const event = eventVariables(delivery);
      const { leftOut } = event;
      if (leftOut.length > 0)
        this.#deps.logger.warn(
          { id: delivery.id, variables: leftOut },
          'these fields are omitted from the environment, because they contain NUL or exceed 32 KiB',
        );
      return event;
    } catch (error) {
      throw unencodable(error, this.#place.sink, 'environment');
    }
  }

  /** @throws BridgeError if it is too late for a run */
  #limitOf({ change }: Delivery, { notBeforeMs }: EventVariables): Limits['limit'] {
    const { timeout, beforeStart } = this.#options;
    if (beforeStart === undefined || notBeforeMs === null || !PREPARES.has(change))
      return { ms: timeout, cause: 'timeout' };
    const leftMs = notBeforeMs - beforeStart - this.#deps.wallMs();
    if (leftMs <= 0) throw tooLateFault(this.#place, beforeStart);
    return leftMs < timeout ? { ms: leftMs, cause: 'beforeStart' } : { ms: timeout, cause: 'timeout' };
  }

  async #start({ seq, bytes }: Delivery, setting: Setting): Promise<RunningProgram> {
    try {
      return await startProgram({ ...setting, input: bytes }, this.#deps);
    } catch (error) {
      this.#tryToNote(() => this.#notes.notBegun(seq));
      throw await this.#setting.faultOf(error, setting.account);
    }
  }

  /** If this cannot be stored, the mark still identifies the run. */
  async #noteStart(seq: number, pid: number): Promise<void> {
    const seen = await this.#system.processes.one(pid);
    this.#tryToNote(() => this.#notes.started(seq, pid, seen?.startedAt ?? null));
  }

  #over(seq: number): void {
    this.#tryToNote(() => this.#notes.over(seq));
  }

  #tryToNote(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#deps.logger.debug({ err: error }, 'the state of a run cannot be stored');
    }
  }

  async #concluded(delivery: Delivery, program: RunningProgram, end: RunEnd): Promise<Outcome> {
    const { outputs, closed } = program;
    if (end.isGone) this.#over(delivery.seq);
    else if (end.cause === 'stop') this.#deps.logger.error({ id: delivery.id, pid: program.pid }, LEFT);
    const wentWell = end.exit?.code === 0;
    // Only a failure waits for the last line of its standard error.
    if (end.exit !== null && !wentWell) await closed;
    const hidden = this.#hidden;
    const outcome = this.#judge(delivery, end, outputs.stderr.lastLine(hidden));
    const isAccepted = !(outcome instanceof Error);
    // The note stays while the run continues, accepted or not: the next run of the key waits for its end.
    if (isAccepted && end.isGone) this.#notes.dismiss(delivery.seq);
    const logged = closed.then(() => this.#log.ended({ id: delivery.id, outputs, outcome, wentWell, hidden }));
    if (end.exit !== null) void this.#running.track(logged);
    return outcome;
  }

  #judge({ change }: Delivery, { exit, cause, isGone }: RunEnd, lastError: string | null): Outcome {
    const { timeout, beforeStart = 0, approve } = this.#options;
    const place = { ...this.#place, lastError };
    if (cause === 'superseded') return SUPERSEDED;
    if (cause === 'beforeStart') return cutShortFault(place, beforeStart, isGone);
    if (cause !== null || exit === null) return runTimeoutFault(place, timeout, isGone);
    const fault = exitFault(exit, place);
    if (fault !== null) return fault;
    return approve !== undefined && PREPARES.has(change) ? { result: 'accepted', approves: true } : 'accepted';
  }
}

/** A delivery is accepted when its program ends with exit code 0. */
export const commandSink: AdapterDefinition<CommandOptions> = {
  type: 'command',
  options: commandOptions(process.platform),
  secretFaults: variableFaults,
  decisiveFiles: (options, around) => programFiles(options, around, process.platform),
  isLocal: true,
  approverOf: commandApprover,
  cancels: ({ cancel }) => cancel,
  endLeftBehind: (deps) => formerRuns(deps).endAll(),
  create: (options, deps) => new CommandAdapter(options, deps),
};

function formerRuns(deps: LeftBehindDeps): FormerRuns {
  return new FormerRuns(
    new RunNotes(deps.notes, deps.random),
    groupSystem(process.platform, new Processes(), WINDOWS_FOLDER),
    deps,
  );
}
