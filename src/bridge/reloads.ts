// Reload requests → one reload after another, each applied completely or not at all.
import type { Logger } from 'pino';
import { configChanges, needsRestart, type Written } from '../config/changes.ts';
import type { CheckedConfig, ValidConfig } from '../config/check-config.ts';
import type { Config } from '../config/config.ts';
import { logWarnings } from '../config/warnings.ts';
import { BridgeError } from '../errors.ts';
import type { NotAllowed, ReloadOutcome } from '../http/reload-route.ts';
import type { Reply } from '../http/route.ts';
import { type Fault, formatFault } from '../schema/faults.ts';
import { createSource } from './approval-sources.ts';
import { ReloadTurns, type Requesters } from './reload-turns.ts';
import { type AdapterParts, createAdapter } from './sinks/sink-adapter.ts';

/** The source of the configuration for a reload. */
export interface ConfigFile {
  /** The configuration at the start of the bridge. */
  readonly written: Written;
  /** Reads and checks the whole configuration, as `check` does. */
  readonly read: () => Promise<CheckedConfig>;
  /** Another configuration is in force. */
  readonly onApplied?: (config: Config) => void;
}

type OptionParts = Pick<AdapterParts, 'deps' | 'logger' | 'stdout'>;

export interface ReloadsParts extends OptionParts {
  /** Null if there is no configuration file. */
  readonly file?: ConfigFile | null;
  /** When a reload may begin. */
  readonly ready: Promise<void>;
  /** The configuration in force. */
  readonly current: () => Config;
  /**
   * Puts it in force, completely or not at all. `settled`: another reload may begin.
   * @throws BridgeError BRIDGE_STORE_*
   */
  readonly apply: (config: Config, paths: readonly string[]) => { readonly settled: Promise<unknown> };
  readonly onReload: (result: ReloadResult) => void;
  /** A reload that these admins requested is in force. */
  readonly onRequested: (admins: readonly string[], changed: readonly string[]) => void;
}

/** For metrics. */
type ReloadResult = Exclude<AllowedOutcome['kind'], 'no-file'> | 'failed';

type AllowedOutcome = Exclude<ReloadOutcome, NotAllowed>;

/** A rejected reload, until one succeeds. */
interface RefusedReload {
  readonly atMs: number;
  readonly by: string;
  readonly faults: readonly Fault[];
  readonly restart: readonly string[];
}

export class Reloads {
  readonly #parts: ReloadsParts;
  readonly #logger: Logger;
  readonly #turns: ReloadTurns<AllowedOutcome>;
  #written: Written;
  #refused: RefusedReload | null = null;
  #sinceMs: number;

  constructor(parts: ReloadsParts) {
    this.#parts = parts;
    this.#logger = parts.logger.child({ area: 'config' });
    this.#written = parts.file?.written ?? {};
    const { ready, deps } = parts;
    this.#turns = new ReloadTurns({ ready, deps, reload: (requesters) => this.#reload(requesters) });
    this.#sinceMs = parts.deps.wallMs();
  }

  /** Null if the last reload was not rejected. */
  get refused(): RefusedReload | null {
    return this.#refused;
  }

  /** The wall time at which the configuration in force was read. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /**
   * Reads the file after this call, once for all requests that wait.
   * @param by the requester, for the log
   * @param refusal called when the reload begins; a reply: `not-allowed`. Null: the requester needs no right
   * @throws BridgeError BRIDGE_STORE_*, and then nothing has changed
   */
  request(by: string, refusal: (() => Promise<Reply | null>) | null = null): Promise<ReloadOutcome> {
    return this.#turns.request(by, refusal);
  }

  async #reload({ names, admins }: Requesters): Promise<{ outcome: AllowedOutcome; settled: Promise<unknown> }> {
    const { file = null, onReload, onRequested, deps } = this.#parts;
    const by = names.join(', ');
    try {
      const [outcome, settled] = file === null ? [NO_FILE, null] : await this.#tryOut(file);
      if (outcome.kind !== 'no-file') onReload(outcome.kind);
      if (outcome.kind === 'applied') {
        this.#refused = null;
        this.#sinceMs = deps.wallMs();
      } else if (outcome.kind !== 'no-file') {
        this.#refused = { atMs: deps.wallMs(), by, faults: [], restart: [], ...outcome };
      }
      this.#log(by, outcome);
      if (outcome.kind === 'applied') onRequested(admins, outcome.changed);
      return { outcome, settled: this.#cleanly(settled, by) };
    } catch (error) {
      onReload('failed');
      this.#logger.error(
        { err: error, by },
        'the new configuration could not be put in force: the previous one stays in force',
      );
      throw error;
    }
  }

  async #cleanly(settled: Promise<unknown> | null, by: string): Promise<void> {
    try {
      await settled;
    } catch (error) {
      this.#logger.error({ err: error, by }, 'the parts that the reload replaced did not end cleanly');
    }
  }

  /** Reports faults first, and applies nothing before the whole configuration is checked. */
  async #tryOut(file: ConfigFile): Promise<[AllowedOutcome, Promise<unknown> | null]> {
    const read = await file.read();
    const faults = 'faults' in read ? read.faults : this.#optionFaults(read);
    if ('faults' in read || faults.length > 0) return [{ kind: 'faulty', faults }, null];
    const restart = needsRestart(this.#parts.current(), read.options);
    if (restart.length > 0) return [{ kind: 'needs-restart', restart }, null];
    const changed = configChanges(this.#written, read.written);
    const { settled } = this.#parts.apply(read.options, changed);
    this.#written = read.written;
    file.onApplied?.(read.options);
    logWarnings(this.#logger, read.warnings);
    return [{ kind: 'applied', changed }, settled];
  }

  #optionFaults({ options }: ValidConfig): readonly Fault[] {
    try {
      checkOptions(options, this.#parts);
      return [];
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== 'BRIDGE_CONFIG_INVALID') throw error;
      return [{ path: '', message: error.message }];
    }
  }

  #log(by: string, outcome: AllowedOutcome): void {
    const logger = this.#logger;
    if (outcome.kind === 'applied')
      logger.info({ by, changed: outcome.changed }, 'the configuration was read again and is in force');
    else if (outcome.kind === 'no-file')
      logger.warn({ by }, 'there is no configuration file to reload, so nothing changes: see --config');
    else if (outcome.kind === 'needs-restart') {
      const { restart } = outcome;
      logger.error(
        { by, restart },
        'the configuration has changes that need a restart: none of it is applied, the previous one stays in force',
      );
    } else {
      for (const fault of outcome.faults)
        logger.error({ by, path: fault.path }, `the configuration is rejected: ${formatFault(fault)}`);
      logger.error(
        { by, faults: outcome.faults.length },
        'the configuration has faults: the previous one stays in force',
      );
    }
  }
}

const NO_FILE: AllowedOutcome = { kind: 'no-file' };

/** Finds contradictions in options that fit their schemas. No I/O. @throws BridgeError BRIDGE_CONFIG_INVALID */
export function checkOptions(config: Config, { deps, logger, stdout }: OptionParts): void {
  for (const name of Object.keys(config.sinks)) createAdapter(name, config, { deps, logger, stdout });
  for (const name of Object.keys(config.approvals.sources))
    createSource(name, config, { deps, logger, observerId: '' });
}
