// argv's options → a verb's help text, its checked options and its exit code: what a verb is.
import { BridgeError } from '../errors.ts';
import { parseInstant } from '../formats/dates.ts';
import { parseDuration } from '../formats/durations.ts';
import type { Deps } from '../time/clock.ts';

/** 74, 75 and 78 are those of sysexits.h: EX_IOERR, EX_TEMPFAIL (try again later) and EX_CONFIG. */
export const EXIT = { fine: 0, failed: 1, usage: 2, store: 74, locked: 75, config: 78 } as const;

/** For `run`: lines on standard input replace signals. */
export const CONTROL_OPTION = 'control-stdin';

export type Colour = 'green' | 'yellow' | 'red';

/** What cli.ts passes to a verb. A verb uses nothing else of the process. */
export interface VerbContext {
  readonly positionals: readonly string[];
  /** By option name: true for `--watch`, a string for `--sink NAME`, a list for an option that may be repeated. */
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly deps: Deps;
  /** Returns this number of bytes from the machine's cryptographic random source. */
  readonly secureRandom: (bytes: number) => Uint8Array;
  /**
   * Writes one or more lines to standard output; waits for a slow reader. If the reader is gone, `signal` aborts and
   * this rejects with its reason. Control characters are escaped, but line feeds are not: pass foreign text through
   * `visibleLine`. The colour appears only on a terminal, and not with NO_COLOR.
   */
  readonly print: (line: string, colour?: Colour) => Promise<void>;
  /** Writes a line to standard error; never waits. */
  readonly warn: (line: string) => void;
  /** For `run`: calls the listener at each SIGHUP, and at once if one came before. */
  readonly onHangup: (listener: () => void) => void;
  /** Aborts at SIGTERM and SIGINT, and when the reader of standard output is gone. */
  readonly signal: AbortSignal;
}

export interface Verb {
  /** What comes after the verb, for the usage line. */
  readonly usage: string;
  /**
   * Whether positional arguments may follow: EventIds, an action. Not by default, so that `run FILE` does not ignore
   * its file.
   */
  readonly takesWords?: boolean;
  /** If the first word must be one of these: for completion. */
  readonly words?: readonly string[];
  /** What it does, in a few sentences. */
  readonly description: string;
  readonly options: Readonly<Record<string, VerbOption>>;
  /** Command lines as a user types them, each with its purpose. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
  /** How long the verb may take to end after the signal; 2 s by default. */
  readonly closeLimitMs?: number;
  /** The exit code. @throws BridgeError */
  run(context: VerbContext): Promise<number>;
}

/** Verbs by name; each is loaded when it is used. */
export type VerbTable = Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Verb> }>>;

export interface VerbOption {
  readonly type: 'string' | 'boolean';
  /** Whether the option may be repeated. */
  readonly multiple?: boolean;
  readonly help: string;
  /** Shown after the option's name: `FILE`, `NAME`. */
  readonly value?: string;
  /** Resolves with names that the value can have; others are possible. For completion. */
  readonly names?: () => Promise<readonly string[]>;
}

/** Returns the error of a wrong command line: exit code 2. */
export function usageError(message: string, cause?: unknown): BridgeError {
  return new BridgeError('BRIDGE_USAGE', message, { cause });
}

/** Returns an option's value; undefined if it was not given. */
export function optionText(context: VerbContext, name: string): string | undefined {
  const value = context.values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns all values of an option that may be repeated. */
export function optionTexts(context: VerbContext, name: string): readonly string[] {
  const values = context.values[name];
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}

/** @throws BridgeError BRIDGE_USAGE if the option was not given */
export function needed(context: VerbContext, name: string): string {
  const value = optionText(context, name);
  if (value === undefined) throw usageError(`--${name} is missing; see --help`);
  return value;
}

/** Returns the only word. @throws BridgeError BRIDGE_USAGE for none or several. @param what it is, such as `EventId` */
export function oneWord({ positionals: [word, ...more] }: VerbContext, what: string): string {
  if (word === undefined || word === '' || more.length > 0) throw usageError(`give exactly one ${what}; see --help`);
  return word;
}

/** @throws BridgeError BRIDGE_USAGE if the option is not a whole number of at least `least` */
export function optionNumber(context: VerbContext, name: string, least: number): number | undefined {
  const value = optionText(context, name);
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < least)
    throw usageError(`--${name} takes a whole number of at least ${least}, not "${value}"`);
  return Number(value);
}

/**
 * @returns milliseconds since 1970; a duration is counted back from now
 * @throws BridgeError BRIDGE_USAGE if the option is neither an RFC 3339 time nor a duration
 */
export function optionTime(context: VerbContext, name: string): number | undefined {
  const value = optionText(context, name);
  if (value === undefined) return undefined;
  const agoMs = parseDuration(value);
  const ms = agoMs === null ? parseInstant(value) : context.deps.wallMs() - agoMs;
  if (ms === null)
    throw usageError(`--${name} takes RFC 3339 (2026-11-21T10:00:00Z) or a duration ago (90m), not "${value}"`);
  return ms;
}

/** Resolves when `signal` aborts. */
export function interrupted({ signal }: Pick<VerbContext, 'signal'>): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
