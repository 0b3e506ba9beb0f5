// argv → a verb → its exit code; the only place that reads argv, prints and exits.
import { styleText } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { BridgeError, codeOf, type ErrorCode, isAbort, isPermanentStoreFault } from './errors.ts';
import { visible } from './formats/visible-text.ts';
import { sleep } from './time/clock.ts';
import { secureRandom, systemDeps } from './time/system.ts';
import { parseCommandLine, unknownVerb } from './verbs/usage/command-line.ts';
import { COMMAND, CONFIG_VARIABLE, help, overview } from './verbs/usage/help.ts';
import { CONTROL_OPTION, EXIT, interrupted, type Verb, type VerbContext } from './verbs/verb.ts';
import { VERBS } from './verbs/verbs.ts';

/** For verbs that have little or nothing to close. */
const CLOSE_LIMIT_MS = 2000;

/** SIGHUP: whether one has arrived, and the listener for the next ones. */
export interface Hangups {
  arrived: boolean;
  listener: () => void;
}

/** Runs the verb of the command line and exits with its code. @param stop aborts at SIGTERM and SIGINT */
export async function main(stop: AbortController, hangups: Hangups): Promise<void> {
  process.stdout.on('error', ignoreBrokenPipe);
  process.stderr.on('error', ignoreBrokenPipe);
  // From here nothing may delay the exit, neither an unread log line nor a socket that does not close.
  leave(await dispatch(process.argv.slice(2), stop, hangups));
}

/** Kinds of work that can block a thread of the pool: a look-up at a dead name server, a pipe without a writer. */
const IN_THREADS = /^(GetAddrInfo|GetNameInfo|FSReq)/;

/**
 * Exits at once. `process.exit` waits for the threads of the pool, and a look-up at a dead name server can take more
 * than a minute. Replacing the process with one that only exits with the code ends these threads.
 */
function leave(code: number): never {
  if (process.execve && process.getActiveResourcesInfo().some((name) => IN_THREADS.test(name))) {
    try {
      process.execve(process.execPath, ['node', '--eval', `process.exitCode = ${code}`], {});
    } catch {
      // Unsupported here, or out of memory: exit the slow way.
    }
  }
  process.exit(code);
}

async function dispatch(argv: readonly string[], stop: AbortController, hangups: Hangups): Promise<number> {
  const [name, ...rest] = argv[0] === 'help' && argv[1] !== undefined ? [argv[1], '--help'] : argv;
  if (name === '--version' || name === '-V') return say(process.stdout, packageJson.version, EXIT.fine);
  if (name === undefined) return say(process.stderr, overview(VERBS), EXIT.usage);
  if (name === '--help' || name === '-h' || name === 'help') return say(process.stdout, overview(VERBS), EXIT.fine);
  const entry = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (!entry) {
    const wrong = unknownVerb(name, [...Object.keys(VERBS), 'help', '--help', '--version']);
    return say(process.stderr, `${COMMAND}: ${wrong}\n\`${COMMAND} --help\` lists the verbs`, EXIT.usage);
  }
  const verb = await entry.load();
  try {
    const context = contextOf(verb, rest, stop, hangups);
    if (context.values['help']) return await say(process.stdout, help(name, entry.summary, verb), EXIT.fine);
    if (context.values[CONTROL_OPTION]) await followStandardInput(stop, hangups);
    stop.signal.throwIfAborted();
    return await Promise.race([verb.run(context), cutOff(context, verb.closeLimitMs ?? CLOSE_LIMIT_MS)]);
  } catch (error) {
    return failed(name, error);
  }
}

/** Lines of standard input replace signals. */
async function followStandardInput(stop: AbortController, hangups: Hangups): Promise<void> {
  const { followControlLines } = await import('./service/control-lines.ts');
  const reload = () => {
    hangups.arrived = true;
    hangups.listener();
  };
  followControlLines(process.stdin, { stop: () => stop.abort(), reload });
}

/** Abandons a verb that does not end in time after its signal, for example because it reads from a pipe. */
async function cutOff(context: VerbContext, limitMs: number): Promise<number> {
  await interrupted(context);
  await sleep(context.deps, limitMs);
  return EXIT.fine;
}

function contextOf(verb: Verb, args: readonly string[], stop: AbortController, hangups: Hangups): VerbContext {
  const { values, positionals } = parseCommandLine(verb, args);
  // --bridge and --schema need no configuration.
  if ('config' in verb.options && !values['bridge'] && !values['schema'])
    values['config'] ??= process.env[CONFIG_VARIABLE] || undefined;
  return {
    values,
    positionals,
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    deps: systemDeps(),
    secureRandom,
    print: async (line, colour) => {
      const shown = visible(line);
      if (
        await write(
          process.stdout,
          `${colour === undefined ? shown : styleText(colour, shown, { stream: process.stdout })}\n`,
        )
      )
        return;
      stop.abort();
      stop.signal.throwIfAborted();
    },
    warn: (line) => void process.stderr.write(`${visible(line)}\n`),
    onHangup: (listener) => {
      hangups.listener = listener;
      if (hangups.arrived) listener();
    },
    signal: stop.signal,
  };
}

function failed(verb: string, error: unknown): Promise<number> {
  if (isAbort(error)) return Promise.resolve(EXIT.fine);
  const code = error instanceof BridgeError ? error.code : 'BRIDGE_INTERNAL';
  const detail =
    error instanceof BridgeError
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  return say(process.stderr, `${COMMAND} ${verb}: ${detail} (${code})`, exitOf(code));
}

function exitOf(code: ErrorCode): number {
  if (code === 'BRIDGE_USAGE') return EXIT.usage;
  if (code === 'BRIDGE_STORE_LOCKED') return EXIT.locked;
  if (isPermanentStoreFault(code)) return EXIT.store;
  return code.startsWith('BRIDGE_CONFIG_') || code === 'BRIDGE_SIMULATOR_SCENARIO' ? EXIT.config : EXIT.failed;
}

async function say(stream: NodeJS.WriteStream, text: string, exit: number): Promise<number> {
  await write(stream, `${visible(text)}\n`);
  return exit;
}

/** Resolves to false once the reader is gone: `… | head -1` closes the pipe, which is a normal end. */
function write(stream: NodeJS.WriteStream, chunk: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error && !isBrokenPipe(error) ? reject(error) : resolve(!error)));
  });
}

/** The callback of each write handles other errors. */
function ignoreBrokenPipe(error: Error): void {
  if (!isBrokenPipe(error)) throw error;
}

function isBrokenPipe(error: Error): boolean {
  const code = codeOf(error);
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}
