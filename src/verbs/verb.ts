// A verb: its help text, its options and its action.
import type { ParseArgsOptionsConfig } from 'node:util';
import { BridgeError } from '../errors.ts';
import { parseInstant } from '../formats/dates.ts';
import { parseDuration } from '../formats/durations.ts';
import type { Deps } from '../time/clock.ts';

/** 75 and 78 as in sysexits.h: try again later, and mend the configuration first. */
export const EXIT = { fine: 0, failed: 1, usage: 2, locked: 75, config: 78 } as const;

/** Of `run`: lines of standard input tell it what signals tell elsewhere. */
export const CONTROL_OPTION = 'control-stdin';

export type Colour = 'green' | 'yellow' | 'red';

/** What cli.ts hands to a verb; a verb touches the process through nothing else. */
export interface VerbContext {
  readonly positionals: readonly string[];
  /** By option name; `--watch` is true, `--sink NAME` a text, an option that may be repeated a list of them. */
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly deps: Deps;
  /** So many bytes from the machine's cryptographic random source. */
  readonly secureRandom: (bytes: number) => Uint8Array;
  /**
   * Writes a line, or several, to standard output; waits for a slow reader. Where the reader went away, `signal` aborts and this rejects with its
   * reason. Control characters are shown escaped; line feeds are not: what others chose goes through `visibleLine`. The colour is seen on a
   * terminal alone, and not with NO_COLOR.
   */
  readonly print: (line: string, colour?: Colour) => Promise<void>;
  /** Readable lines on standard error; never waits. */
  readonly tell: (line: string) => void;
  /** From now on this is called at SIGHUP, and at once where one came before; of `run` alone. */
  readonly onHangup: (listener: () => void) => void;
  /** Aborts at SIGTERM and SIGINT, and when the reader of standard output is gone. */
  readonly signal: AbortSignal;
}

export interface Verb {
  /** What comes after the verb, for the usage line. */
  readonly usage: string;
  /** Whether words may follow that belong to no option: EventIds, an action. By default none, so that `run FILE` does not run without its file. */
  readonly takesWords?: boolean;
  /** What it does, in a few sentences. */
  readonly description: string;
  readonly options: Readonly<Record<string, VerbOption>>;
  /** Command lines as a user types them, each with what it is for. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
  /** How long it may take to end after the signal; 2 s by default. */
  readonly closeLimitMs?: number;
  /** The exit code. @throws BridgeError */
  run(context: VerbContext): Promise<number>;
}

export interface VerbOption {
  readonly type: 'string' | 'boolean';
  /** It may be given several times. */
  readonly multiple?: boolean;
  readonly help: string;
  /** Shown behind the option's name: `FILE`, `NAME`. */
  readonly value?: string;
}

/** As node:util's parseArgs wants them. */
export function parseArgsOptions(options: Verb['options']): ParseArgsOptionsConfig {
  return Object.fromEntries(Object.entries(options).map(([name, { type, multiple = false }]) => [name, { type, multiple }]));
}

/** An option's text; undefined where it was not given. */
export function text(context: VerbContext, name: string): string | undefined {
  const value = context.values[name];
  return typeof value === 'string' ? value : undefined;
}

/** The texts of an option that may be repeated; none where it was not given. */
export function optionTexts(context: VerbContext, name: string): readonly string[] {
  const values = context.values[name];
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}

/** @throws BridgeError BRIDGE_USAGE where the option was not given. */
export function needed(context: VerbContext, name: string): string {
  const value = text(context, name);
  if (value === undefined) throw new BridgeError('BRIDGE_USAGE', `--${name} is missing; see --help`);
  return value;
}

/** @throws BridgeError BRIDGE_USAGE where the option is no whole number of at least `least`. */
export function optionNumber(context: VerbContext, name: string, least: number): number | undefined {
  const value = text(context, name);
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < least) {
    throw new BridgeError('BRIDGE_USAGE', `--${name} takes a whole number of at least ${least}, not "${value}"`);
  }
  return Number(value);
}

/** Milliseconds since 1970. @throws BridgeError BRIDGE_USAGE where the option is neither an RFC 3339 time nor a duration, which means so long ago */
export function optionTime(context: VerbContext, name: string): number | undefined {
  const value = text(context, name);
  if (value === undefined) return undefined;
  const agoMs = parseDuration(value);
  const ms = agoMs === null ? parseInstant(value) : context.deps.wallMs() - agoMs;
  if (ms === null)
    throw new BridgeError('BRIDGE_USAGE', `--${name} takes RFC 3339 (2026-11-21T10:00:00Z) or a duration ago (90m), not "${value}"`);
  return ms;
}

/** Resolves when `signal` aborts. */
export function interrupted({ signal }: Pick<VerbContext, 'signal'>): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
