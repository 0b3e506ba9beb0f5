// How a run ended, or why there was none → an outcome that says what to do.
import { BridgeError, type BridgeErrorDetails, codeOf, messageOf } from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import type { Exit } from './running-program.ts';

/** Who it happened to. */
export interface CommandPlace {
  /** The sink's name. */
  readonly sink: string;
  /** As it is configured. */
  readonly program: string;
}

/** sysexits.h EX_DATAERR. */
const REFUSED = 65;
/** EX_NOPERM and EX_CONFIG of sysexits.h, and what shells say of a program that cannot be run or found. */
const MISCONFIGURED: ReadonlySet<number> = new Set([77, 78, 126, 127]);
/** Short of something at the moment. */
const SHORTAGES: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY', 'EINTR', 'EIO']);
const LINES = 'what it said last is in the log';

/** Of a program that ended by itself; null where it did what it should. */
export function exitFault({ code, signal }: Exit, place: CommandPlace): BridgeError | null {
  if (code === 0) return null;
  const who = whoOf(place);
  if (code === null) {
    return new BridgeError(
      'BRIDGE_COMMAND_FAILED',
      `${who} was ended by ${signal}, not by the bridge; it is run again`,
      retry(signal ?? 'signal'),
    );
  }
  if (code === REFUSED) {
    const message = `${who} refused this event by exit code ${code}, which is a dead letter now; ${LINES}`;
    return new BridgeError('BRIDGE_COMMAND_REFUSED', message, { disposition: 'refused', isNamed: true, status: code });
  }
  if (MISCONFIGURED.has(code)) {
    const message = `${who} ended with exit code ${code}, as who finds himself configured wrongly; correct it: ${LINES}`;
    return new BridgeError('BRIDGE_COMMAND_MISCONFIGURED', message, { disposition: 'misconfigured', status: code });
  }
  return new BridgeError('BRIDGE_COMMAND_FAILED', `${who} ended with exit code ${code}; it is run again; ${LINES}`, retry(code));
}

/** `isGone`: nothing of its process group is left. */
export function timeoutFault(place: CommandPlace, limitMs: number, isGone: boolean): BridgeError {
  const message = `${whoOf(place)} had not ended after ${formatDuration(limitMs)} and was ended${left(isGone)}; it is run again: see why it hangs, or raise timeout`;
  return new BridgeError('BRIDGE_COMMAND_TIMEOUT', message, retry('timeout'));
}

/** It ran until the event was near. */
export function cutShortFault(place: CommandPlace, beforeStartMs: number, isGone: boolean): BridgeError {
  const message = `${whoOf(place)} was ended ${formatDuration(beforeStartMs)} before NotBefore${left(isGone)}; it goes to the dead letters: make it faster, or lower beforeStart`;
  return new BridgeError('BRIDGE_COMMAND_TOO_LATE', message, { disposition: 'expired', status: 'beforeStart' });
}

/** Nothing was begun. */
export function tooLateFault(place: CommandPlace, beforeStartMs: number): BridgeError {
  const message = `${whoOf(place)} was not run: less than ${formatDuration(beforeStartMs)} (beforeStart) is left before NotBefore; it goes to the dead letters`;
  return new BridgeError('BRIDGE_COMMAND_TOO_LATE', message, { disposition: 'expired', status: 'beforeStart' });
}

/** A former run of the same event could not be ended, and two at once are one too many. */
export function stillRunsFault(place: CommandPlace, group: number): BridgeError {
  const message = `${whoOf(place)} is not run: its last run for this event still goes on and could not be ended; end its process group ${group}`;
  return new BridgeError('BRIDGE_COMMAND_FAILED', message, retry('still runs'));
}

/** What somebody has to correct before it can start. */
export function unstartable(place: CommandPlace, fault: string, cause?: unknown): BridgeError {
  const status = codeOf(cause);
  const details = { ...(cause === undefined ? {} : { cause }), ...(status === undefined ? {} : { status }) };
  const message = `${whoOf(place)} cannot be started: ${fault}`;
  return new BridgeError('BRIDGE_COMMAND_MISCONFIGURED', message, { ...details, disposition: 'misconfigured', scope: 'sink' });
}

/** It would start, and nothing of the bridge could end it. */
export function unendable(place: CommandPlace, user: string): BridgeError {
  const message = `${whoOf(place)} could not be ended by the bridge, as it runs as ${user}: run the bridge as root, or with CAP_KILL, too`;
  return new BridgeError('BRIDGE_COMMAND_MISCONFIGURED', message, { disposition: 'misconfigured', scope: 'sink' });
}

/** What the system said when it was to start. @param fault what was found to be wrong; null where nothing was */
export function startFault(cause: unknown, fault: string | null, place: CommandPlace): BridgeError {
  const status = codeOf(cause);
  if (status === undefined || !SHORTAGES.has(status)) return unstartable(place, fault ?? said(cause), cause);
  const message = `${whoOf(place)} could not be started at the moment: ${said(cause)}; it is tried again: raise the limit on processes or open files, or give it memory`;
  return new BridgeError('BRIDGE_COMMAND_FAILED', message, { cause, disposition: 'retry', scope: 'sink', status });
}

/** Node's message of a failed start names the arguments, too. */
function said(cause: unknown): string {
  return codeOf(cause) ?? messageOf(cause);
}

function left(isGone: boolean): string {
  return isGone ? '' : ', but could not be: a process of it is left';
}

function retry(status: string | number): BridgeErrorDetails {
  return { disposition: 'retry', status };
}

function whoOf({ sink, program }: CommandPlace): string {
  return `sink ${sink}: ${program}`;
}
