// The end of a run, or the reason why there was none → an outcome that says what to do.
import { BridgeError, type BridgeErrorDetails, codeOf, messageOf } from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import { shortenedText, visibleLine } from '../../src/formats/visible-text.ts';
import type { Exit } from './running-program.ts';

/** The sink and the program that an error is about. */
export interface CommandPlace {
  readonly sink: string;
  /** As configured. */
  readonly program: string;
}

/** An ended run: its place, and the last line of its standard error, or null. */
export interface EndedPlace extends CommandPlace {
  readonly lastError: string | null;
}

/** sysexits.h EX_DATAERR. */
const REFUSED = 65;
/** EX_NOPERM and EX_CONFIG of sysexits.h, and the codes of shells for a program that cannot be executed or found. */
const MISCONFIGURED: ReadonlySet<number> = new Set([77, 78, 126, 127]);
/** Temporary shortages of a resource. */
const SHORTAGES: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY', 'EINTR', 'EIO']);
/** In UTF-16 units. */
const LONGEST_MESSAGE = 1000;
const LONGEST_PROGRAM = 200;

/** Returns the error of a program that ended by itself, or null for exit code 0. */
export function exitFault({ code, signal }: Exit, place: EndedPlace): BridgeError | null {
  if (code === 0) return null;
  const who = whoOf(place);
  if (code === null) {
    return new BridgeError(
      'BRIDGE_COMMAND_FAILED',
      ended(`${who} was ended by ${signal}, not by the bridge`, place, 'the bridge runs it again'),
      retry(signal ?? 'signal'),
    );
  }
  if (code === REFUSED) {
    const message = ended(
      `${who} rejected this event with exit code ${code}`,
      place,
      'the event becomes a dead letter',
    );
    return new BridgeError('BRIDGE_COMMAND_REFUSED', message, { disposition: 'refused', isNamed: true, status: code });
  }
  if (MISCONFIGURED.has(code)) {
    const message = ended(
      `${who} ended with exit code ${code}, which reports a wrong configuration`,
      place,
      'correct it',
    );
    return new BridgeError('BRIDGE_COMMAND_MISCONFIGURED', message, { disposition: 'misconfigured', status: code });
  }
  return new BridgeError(
    'BRIDGE_COMMAND_FAILED',
    ended(`${who} ended with exit code ${code}`, place, 'the bridge runs it again'),
    retry(code),
  );
}

/** @param isGone whether its whole process group has ended */
export function runTimeoutFault(place: EndedPlace, limitMs: number, isGone: boolean): BridgeError {
  const message = `${whoOf(place)} had not ended after ${formatDuration(limitMs)} and was ended${left(isGone)}`;
  const advice = 'the bridge runs it again: find out why it hangs, or raise timeout';
  return new BridgeError('BRIDGE_COMMAND_TIMEOUT', ended(message, place, advice), retry('timeout'));
}

/** Returns the error of a run that the bridge ended `beforeStart` before NotBefore. */
export function cutShortFault(place: EndedPlace, beforeStartMs: number, isGone: boolean): BridgeError {
  const message = `${whoOf(place)} was ended ${formatDuration(beforeStartMs)} before NotBefore${left(isGone)}`;
  const advice = 'the event becomes a dead letter: make the program faster, or lower beforeStart';
  return new BridgeError('BRIDGE_COMMAND_TOO_LATE', ended(message, place, advice), {
    disposition: 'expired',
    status: 'beforeStart',
  });
}

/** Returns the error of a run that was not started, because it was too late. */
export function tooLateFault(place: CommandPlace, beforeStartMs: number): BridgeError {
  const message = `${whoOf(place)} was not run: less than ${formatDuration(beforeStartMs)} (beforeStart) is left before NotBefore; the event becomes a dead letter`;
  return new BridgeError('BRIDGE_COMMAND_TOO_LATE', message, { disposition: 'expired', status: 'beforeStart' });
}

/**
 * Returns the error if an earlier run of the same event could not be ended: an event must not have two runs at once.
 */
export function stillRunsFault(place: CommandPlace, group: number): BridgeError {
  const message = `${whoOf(place)} is not run: its last run for this event continues and could not be ended; end its process group ${group}`;
  return new BridgeError('BRIDGE_COMMAND_FAILED', message, retry('still runs'));
}

/** Returns the error of a program that cannot start until somebody corrects a fault. */
export function unstartable(place: CommandPlace, fault: string, cause?: unknown): BridgeError {
  const details = { cause, status: codeOf(cause), disposition: 'misconfigured', scope: 'sink' } as const;
  return new BridgeError('BRIDGE_COMMAND_MISCONFIGURED', `${whoOf(place)} cannot be started: ${fault}`, details);
}

/** Returns the error of a program that the bridge could start but not end. */
export function unendable(place: CommandPlace, user: string): BridgeError {
  const message = `${whoOf(place)} could not be ended by the bridge, as it runs as ${user}: run the bridge as root, or with CAP_KILL, too`;
  return new BridgeError('BRIDGE_COMMAND_MISCONFIGURED', message, { disposition: 'misconfigured', scope: 'sink' });
}

/**
 * Returns the error for a start that the system rejected.
 * @param fault the fault that was found, or null
 */
export function startFault(cause: unknown, fault: string | null, place: CommandPlace): BridgeError {
  const status = codeOf(cause);
  if (status === undefined || !SHORTAGES.has(status)) return unstartable(place, fault ?? said(cause), cause);
  const message = `${whoOf(place)} could not be started at the moment: ${said(cause)}; the bridge tries again: raise the limit on processes or open files, or free memory`;
  return new BridgeError('BRIDGE_COMMAND_FAILED', message, { cause, disposition: 'retry', scope: 'sink', status });
}

/** Node's message of a failed start would include the arguments. */
function said(cause: unknown): string {
  return codeOf(cause) ?? messageOf(cause);
}

function left(isGone: boolean): string {
  return isGone ? '' : ', but one of its processes is left';
}

function retry(status: string | number): BridgeErrorDetails {
  return { disposition: 'retry', status };
}

function whoOf({ sink, program }: CommandPlace): string {
  return `sink ${sink}: ${shortenedText(visibleLine(program), LONGEST_PROGRAM)}`;
}

/** Puts the last line before the advice, so that it remains if a screen cuts the message. */
function ended(end: string, { lastError }: EndedPlace, advice: string): string {
  const line = lastError === null ? ', nothing on standard error' : `, last line on standard error: "${lastError}"`;
  const log = lastError === null ? '; its output is in the log' : '';
  return shortenedText(`${end}${line}; ${advice}${log}`, LONGEST_MESSAGE);
}
