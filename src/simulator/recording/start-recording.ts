// `--record` and `--anonymise` → a running recording, for the simulator and the proxy.
import type { Logger } from 'pino';
import type { Deps } from '../../time/clock.ts';
import { Anonymiser } from './anonymise.ts';
import { Recorder } from './recorder.ts';
import { RECORDING_VERSION, type RecordingHeader } from './recording.ts';
import { RecordingFile } from './recording-file.ts';

export interface RecordingOptions {
  readonly path: string;
  /** Replaces names and ids in the file; clients get the original answers. */
  readonly anonymise: boolean;
  /** Milliseconds since 1970, in the clock of the answers' times. */
  readonly startedAtMs: number;
  readonly deps: Pick<Deps, 'random'>;
  readonly logger?: Pick<Logger, 'error'>;
}

export interface Recording extends AsyncDisposable {
  readonly record: Recorder['record'];
}

/**
 * Starts a recording. If the file cannot be written any more, logs an error and stops recording; `record` then does nothing.
 * @throws BridgeError BRIDGE_SIMULATOR_RECORDING if the file is not empty or cannot be created
 */
export async function startRecording({ path, anonymise, startedAtMs, deps, logger }: RecordingOptions): Promise<Recording> {
  const header: RecordingHeader = {
    recording: RECORDING_VERSION,
    startedAt: new Date(startedAtMs).toISOString(),
    anonymised: anonymise,
  };
  const file = await RecordingFile.create(path, header, (error) => logger?.error({ code: error.code }, error.message));
  const anonymiser = anonymise ? new Anonymiser(deps.random) : null;
  const recorder = new Recorder((line) => file.append(anonymiser ? anonymiser.line(line) : line), startedAtMs);
  let isOver = false;
  const record: Recording['record'] = (...args) => {
    if (isOver) return;
    try {
      recorder.record(...args);
    } catch (error) {
      // A value that JSON.stringify cannot write, such as one nested too deeply. The client still gets its answer.
      isOver = true;
      logger?.error({ err: error }, 'an answer cannot be recorded; recording has stopped');
    }
  };
  return { record, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() };
}
