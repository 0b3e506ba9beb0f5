// The configuration of a program → the parameters of its start, or the fault that prevents it.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BridgeError } from '../../src/errors.ts';
import type { AdapterDeps } from '../adapter.ts';
import { type Account, accountSources, findAccount, mayEnd, ownRights } from './accounts.ts';
import { type CommandPlace, startFault, unendable, unstartable } from './command-fault.ts';
import { type CommandLine, commandLine } from './command-line.ts';
import type { CommandOptions } from './command-options.ts';
import { ownVariables, programExtensions, searchPath } from './run-environment.ts';
import { type Conditions, executableFault, findProgram, startFaultOf } from './start-faults.ts';

/** The parameters of a start, except those of the delivery. */
export interface Setting {
  readonly line: CommandLine;
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string | undefined;
  readonly account: Account | null;
}

export class ProgramSetting {
  readonly #options: CommandOptions;
  readonly #deps: Pick<AdapterDeps, 'env' | 'directory'>;
  readonly #place: CommandPlace;
  readonly #platform: NodeJS.Platform;
  /** The path that was found for the name in `run`. */
  #program: string | null = null;
  /** The version of the file that was last recognized as a program. */
  #seen: string | null = null;

  constructor(
    options: CommandOptions,
    deps: Pick<AdapterDeps, 'env' | 'directory'>,
    place: CommandPlace,
    platform: NodeJS.Platform,
  ) {
    this.#options = options;
    this.#deps = deps;
    this.#place = place;
    this.#platform = platform;
  }

  /**
   * @throws BridgeError BRIDGE_COMMAND_MISCONFIGURED if PATH has no such program, the file is not a program, or the
   * user does not exist
   */
  async now(): Promise<Setting> {
    const { run, env } = this.#options;
    const { env: own } = this.#deps;
    const [program, account] = [await this.#find(), await this.#account()];
    await this.#expectProgram(program);
    const line = commandLine(program, run.slice(1), { platform: this.#platform, env: own });
    const variables = ownVariables(own, env, { home: account?.home ?? null, platform: this.#platform });
    return { line, env: variables, directory: this.#directory, account };
  }

  /** Runs nothing. @throws BridgeError BRIDGE_COMMAND_MISCONFIGURED */
  async check(): Promise<null> {
    const [program, account] = [await this.#find(), await this.#account()];
    const fault = await startFaultOf(program, this.#conditions(account));
    if (fault !== null) throw unstartable(this.#place, fault);
    if (account !== null && !mayEnd(account, await ownRights(this.#platform)))
      throw unendable(this.#place, account.name);
    return null;
  }

  /** Explains the error of the system, which has the same code for a missing program, interpreter or folder. */
  async faultOf(error: unknown, account: Account | null): Promise<BridgeError> {
    const program = this.#program;
    // The program may have moved to another folder of PATH.
    this.#program = null;
    const found = program === null ? null : await startFaultOf(program, this.#conditions(account)).catch(() => null);
    return startFault(error, found, this.#place);
  }

  async #find(): Promise<string> {
    const { run } = this.#options;
    const { env } = this.#deps;
    this.#program ??= await findProgram(
      run[0] as string,
      searchPath(env, this.#platform),
      programExtensions(env, this.#platform),
    );
    if (this.#program === null)
      throw unstartable(
        this.#place,
        'no folder of PATH has a program with this name: install it, or set its path in run',
      );
    return this.#program;
  }

  /** Reads the file only if it has changed since the last start. */
  async #expectProgram(program: string): Promise<void> {
    const found = await stat(program).catch(() => null);
    const version = found && `${found.dev} ${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
    if (version !== null && version === this.#seen) return;
    const fault = await executableFault(program, this.#platform);
    if (fault !== null) throw unstartable(this.#place, fault);
    this.#seen = version;
  }

  async #account(): Promise<Account | null> {
    const { user } = this.#options;
    if (user === undefined) return null;
    const account = await findAccount(user, accountSources(this.#platform));
    if (account === null) throw unstartable(this.#place, `there is no user ${user}: create it, or correct user`);
    return account;
  }

  get #directory(): string | undefined {
    const { directory } = this.#options;
    return directory === undefined ? undefined : resolve(this.#deps.directory, directory);
  }

  #conditions(account: Account | null): Conditions {
    const env = {
      ...this.#deps.env,
      ...(typeof this.#options.env['PATH'] === 'string' ? { PATH: this.#options.env['PATH'] } : {}),
    };
    return { search: searchPath(env, this.#platform), directory: this.#directory, account, platform: this.#platform };
  }
}
