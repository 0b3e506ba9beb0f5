// `--record` and `--anonymise` → a running recording, for simulator and proxy.
import type { Logger } from 'pino';
import type { Deps } from '../../time/clock.ts';
import { Anonymiser } from './anonymise.ts';
import { Recorder } from './recorder.ts';
import { RECORDING_VERSION, type RecordingHeader } from './recording.ts';
import { RecordingFile } from './recording-file.ts';

export interface RecordingOptions {
  readonly path: string;
  /** Names and ids are replaced in the file; what clients get stays as it is. */
  readonly anonymise: boolean;
  /** Since 1970, by the clock that the answers' times are taken from. */
  readonly startedAtMs: number;
  readonly deps: Pick<Deps, 'random'>;
  readonly logger?: Pick<Logger, 'error'>;
}

export interface Recording extends AsyncDisposable {
  readonly record: Recorder['record'];
}

/** Where the file cannot be written any more, the log says so and recording ends; `see` goes on to be harmless. @throws BridgeError BRIDGE_SIMULATOR_RECORDING */
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
      // What cannot be put into JSON, nested a thousand times over, say. The client gets its answer all the same.
      isOver = true;
      logger?.error({ err: error }, 'an answer could not be recorded; nothing more is');
    }
  };
  return { record, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() };
}
