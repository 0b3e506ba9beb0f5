// Configured approval sources → a receiving loop for each, from identification to stop.
import type { Logger } from 'pino';
import type { Approvals } from '../approvals/approvals.ts';
import type { MessageOrigin } from '../approvals/inbox/inbox.ts';
import { touches } from '../config/changes.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../time/clock.ts';
import { type ManagedSource, manageSource, SourceLoop } from './source-loop.ts';

interface SourcesParts {
  readonly config: Pick<Config, 'approvals'>;
  readonly approvals: Pick<Approvals, 'take' | 'ready'>;
  readonly deps: Deps;
  readonly logger: Logger;
}

/** The approval sources of a bridge. Does nothing before `start`. */
export class Sources implements AsyncDisposable {
  readonly #parts: SourcesParts;
  readonly #loops = new Map<string, Receiving>();
  #config: SourcesParts['config'];
  /** Null before `start` and after the end. */
  #observerId: string | null = null;

  constructor(parts: SourcesParts) {
    this.#parts = parts;
    this.#config = parts.config;
  }

  /** Creates each source and receives from it, until `asyncDispose`. @param observerId see `ApprovalSourceDeps` */
  start(observerId: string): void {
    this.#observerId = observerId;
    for (const name of Object.keys(this.#config.approvals.sources)) this.#begin(name, observerId);
  }

  /**
   * Applies a new configuration. Unchanged sources continue. New ones start when the old ones are closed, after 2 s at
   * most.
   */
  async reload(config: SourcesParts['config'], paths: readonly string[]): Promise<void> {
    this.#config = config;
    const names = [...this.#loops.keys(), ...Object.keys(config.approvals.sources)];
    const changed = [...new Set(names)].filter((name) => touches(paths, `approvals.sources.${name}`));
    const ending = changed.flatMap((name) => this.#loops.get(name) ?? []);
    for (const name of changed) this.#loops.delete(name);
    await Promise.all(ending.map(end));
    for (const name of changed) {
      const isWanted = Object.hasOwn(this.#config.approvals.sources, name) && !this.#loops.has(name);
      if (isWanted && this.#observerId !== null) this.#begin(name, this.#observerId);
    }
  }

  /** Returns, by name, whether each source can receive messages now. Empty before `start`. */
  status(): ReadonlyMap<string, boolean> {
    return new Map([...this.#loops].map(([name, { loop }]) => [name, loop.isUp]));
  }

  /** Takes no more messages. Waits for 2 s at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#observerId = null;
    await Promise.all([...this.#loops.values()].map(end));
  }

  #begin(name: string, observerId: string): void {
    const { approvals, deps } = this.#parts;
    const logger = this.#parts.logger.child({ source: name });
    const stopping = new AbortController();
    const made = createSource(name, this.#config, { deps, logger, observerId });
    this.#loops.set(name, {
      stopping,
      loop: new SourceLoop({ ...made, approvals, deps, logger, stop: stopping.signal }),
    });
  }
}

interface Receiving {
  readonly loop: SourceLoop;
  readonly stopping: AbortController;
}

function end({ loop, stopping }: Receiving): Promise<void> {
  stopping.abort();
  return loop.close();
}

/** Returns whether every bridge of a group reads every message of this source. */
export function isShared(name: string, { approvals }: Pick<Config, 'approvals'>): boolean {
  const source = approvals.sources[name];
  return source?.definition.readersOf(source.options) === 'each';
}

interface SourceParts extends Pick<SourcesParts, 'deps'> {
  /** A logger that is bound to the source's name. */
  readonly logger: Logger;
  readonly observerId: string;
}

/**
 * Creates a source, without I/O.
 * @throws BridgeError BRIDGE_CONFIG_INVALID if options that fit the schema contradict each other
 */
export function createSource(
  name: string,
  config: Pick<Config, 'approvals'>,
  { deps, logger, observerId }: SourceParts,
): { readonly source: ManagedSource; readonly origin: MessageOrigin } {
  const configured = config.approvals.sources[name];
  if (configured === undefined) throw new RangeError(`no source ${name}`);
  const { definition, options, approver } = configured;
  const source = manageSource(definition.create(options, { ...deps, name, logger, observerId }), name);
  const canGiveBack = definition.readersOf(options) === 'one' && source.canGiveBack;
  return { source, origin: { source: name, approver, canGiveBack } };
}
