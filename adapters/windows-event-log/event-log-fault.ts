// Error codes of Windows, and failures of the helper → BridgeErrors with sink, source and advice.
import { BridgeError, type BridgeErrorDetails, codeOf, type ErrorCode, messageOf } from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import { visibleLine } from '../../src/formats/visible-text.ts';

export interface EventLogTarget {
  readonly sink: string;
  /** The source of the entries. */
  readonly source: string;
}

/** An error of Windows (System Error Codes, winerror.h). */
export interface WindowsError {
  readonly code: number;
  /** The text of Windows for the code. */
  readonly message: string;
}

type Meaning = readonly [code: ErrorCode, advice: (source: string) => string, details: BridgeErrorDetails];

const MISCONFIGURED: BridgeErrorDetails = { disposition: 'misconfigured', scope: 'sink' };
const RETRY: BridgeErrorDetails = { disposition: 'retry', scope: 'sink' };

const NO_SOURCE: Meaning = [
  'BRIDGE_EVENT_LOG_MISCONFIGURED',
  (source) =>
    `the source is not registered in the log Application: as an administrator, run scheduled-events-bridge-service.exe register-source ${JSON.stringify(source)}`,
  MISCONFIGURED,
];
const NO_RIGHT: Meaning = [
  'BRIDGE_EVENT_LOG_MISCONFIGURED',
  () => 'the account of the bridge may not write to the log Application: grant it this right',
  MISCONFIGURED,
];
const FULL: Meaning = [
  'BRIDGE_EVENT_LOG_FAILED',
  () => 'the log Application, or its disk, is full: archive and clear it, or let Windows overwrite old entries',
  RETRY,
];
const REFUSED: Meaning = [
  'BRIDGE_EVENT_LOG_REFUSED',
  () => 'Windows rejects this entry, and it becomes a dead letter; please report it',
  { disposition: 'refused', isNamed: true },
];
const OTHER: Meaning = [
  'BRIDGE_EVENT_LOG_FAILED',
  () => 'if this persists, check that the service Windows Event Log runs',
  RETRY,
];

const MEANINGS: Readonly<Record<number, Meaning>> = {
  /** ERROR_FILE_NOT_FOUND: the key of the source in the registry. */
  2: NO_SOURCE,
  /** ERROR_ACCESS_DENIED, ERROR_PRIVILEGE_NOT_HELD. */
  5: NO_RIGHT,
  1314: NO_RIGHT,
  /** ERROR_DISK_FULL, ERROR_LOG_FILE_FULL. */
  112: FULL,
  1502: FULL,
  /** ERROR_INVALID_PARAMETER, RPC_X_BAD_STUB_DATA: the answer to a string that is too long. */
  87: REFUSED,
  1783: REFUSED,
};

/** Returns the error for an entry that Windows did not take, or for a source that cannot be used. */
export function windowsFault({ code, message }: WindowsError, { sink, source }: EventLogTarget): BridgeError {
  const [errorCode, advice, details] = MEANINGS[code] ?? OTHER;
  const text = `sink ${sink}: cannot write to the event log as ${source}: ${advice(source)} (${code}: ${visibleLine(message)})`;
  return new BridgeError(errorCode, text, { ...details, status: code });
}

/** The helper ended, or did not answer as it should. The next delivery starts it again. */
export function helperFault(symptom: string, { sink }: EventLogTarget): BridgeError {
  const text = `sink ${sink}: the helper for the event log ${visibleLine(symptom)}; the next attempt starts it again`;
  return new BridgeError('BRIDGE_EVENT_LOG_FAILED', text, RETRY);
}

const START_ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'install the .zip for Windows, which has it',
  EACCES: 'let the account of the bridge run it',
  EPERM: 'let the account of the bridge run it',
};

/** The helper did not start. */
export function startFault(cause: unknown, program: string, { sink }: EventLogTarget): BridgeError {
  const status = codeOf(cause);
  const advice = START_ADVICE[status ?? ''];
  const text = `sink ${sink} cannot start ${program} (${status ?? messageOf(cause)})`;
  if (advice === undefined) return new BridgeError('BRIDGE_EVENT_LOG_FAILED', text, { ...RETRY, cause, status });
  return new BridgeError('BRIDGE_EVENT_LOG_MISCONFIGURED', `${text}: ${advice}`, { ...MISCONFIGURED, cause, status });
}

export function tooSlowFault({ sink }: EventLogTarget, limitMs: number): BridgeError {
  const text = `sink ${sink}: Windows did not write the entries within ${formatDuration(limitMs)}: check the service Windows Event Log, or raise timeout`;
  return new BridgeError('BRIDGE_EVENT_LOG_FAILED', text, { ...RETRY, status: 'timeout' });
}
