// Configured approval sources → a receiving loop for each, from identification to stop.
import type { Logger } from 'pino';
import type { Approvals } from '../approvals/approvals.ts';
import type { MessageOrigin } from '../approvals/inbox/inbox.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../time/clock.ts';
import { type ManagedSource, manageSource } from './managed-source.ts';
import { SourceLoop } from './source-loop.ts';

export interface SourcesParts {
  readonly config: Pick<Config, 'approvals'>;
  readonly approvals: Pick<Approvals, 'take' | 'ready'>;
  readonly deps: Deps;
  readonly logger: Logger;
}

/** One for each bridge. Does nothing before `start`. */
export class Sources implements AsyncDisposable {
  readonly #parts: SourcesParts;
  readonly #stop = new AbortController();
  readonly #loops = new Map<string, SourceLoop>();

  constructor(parts: SourcesParts) {
    this.#parts = parts;
  }

  /** Makes each source and receives from it, until `asyncDispose`. `observerId`: see `ApprovalSourceDeps`. */
  start(observerId: string): void {
    const { config, approvals, deps } = this.#parts;
    for (const name of Object.keys(config.approvals.sources)) {
      const logger = this.#parts.logger.child({ source: name });
      const made = createSource(name, config, { deps, logger, observerId });
      this.#loops.set(name, new SourceLoop({ ...made, approvals, deps, logger, stop: this.#stop.signal }));
    }
  }

  /** By name: whether messages can come now. Empty before `start`. */
  status(): ReadonlyMap<string, boolean> {
    return new Map([...this.#loops].map(([name, { isUp }]) => [name, isUp]));
  }

  /** From its call on no message is taken. Waits for 2 s at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#loops.values()].map((loop) => loop.close()));
  }
}

/** Whether each bridge of a group reads the messages of this source. */
export function isShared(name: string, { approvals }: Pick<Config, 'approvals'>): boolean {
  const source = approvals.sources[name];
  return source?.definition.readersOf(source.options) === 'each';
}

export interface SourceParts extends Pick<SourcesParts, 'deps'> {
  /** Bound to the source's name. */
  readonly logger: Logger;
  readonly observerId: string;
}

/** No I/O. @throws BridgeError BRIDGE_CONFIG_INVALID where options that fit the schema cannot work together. */
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
