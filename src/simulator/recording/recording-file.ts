// A path and lines → an NDJSON file, flushed line by line; never overwrites a file.
import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { BridgeError, codeOf, messageOf } from '../../errors.ts';
import { LARGEST_RECORDING } from './recording.ts';

/** The most bytes that can wait for a slow disk. */
const LONGEST_QUEUE = 16 * 1024 * 1024;

/**
 * `append` neither waits nor throws. At the first failure the file is cut after its last whole line, and recording
 * stops.
 */
export class RecordingFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #failed: (error: BridgeError) => void;
  /** The bytes of the lines on disk. */
  #bytes = 0;
  #waiting: string[];
  #waitingBytes: number;
  #isOpen = true;
  #hasFailed = false;
  #writing: Promise<void> | null = null;

  private constructor(handle: FileHandle, path: string, header: object, failed: (error: BridgeError) => void) {
    this.#handle = handle;
    this.#path = path;
    this.#failed = failed;
    this.#waiting = [lineOf(header)];
    this.#waitingBytes = Buffer.byteLength(lineOf(header));
  }

  /**
   * Creates the file, empty and readable only by this user. The header is written with the first line: a start that
   * fails for another reason leaves an empty file, which the next start accepts.
   * @param failed called once, when recording stops because of an error
   * @throws BridgeError BRIDGE_SIMULATOR_RECORDING if the file is not empty or cannot be written
   */
  static async create(path: string, header: object, failed: (error: BridgeError) => void): Promise<RecordingFile> {
    return new RecordingFile(await openEmpty(path), path, header, failed);
  }

  append(line: object): void {
    if (!this.#isOpen) return;
    const text = lineOf(line);
    const waitingBytes = this.#waitingBytes + Buffer.byteLength(text);
    if (this.#bytes + waitingBytes > LARGEST_RECORDING) {
      this.#fail(`it has reached ${LARGEST_RECORDING} bytes, the most that a replay reads`);
    } else if (waitingBytes > LONGEST_QUEUE) {
      this.#fail(`the disk is too slow: more than ${LONGEST_QUEUE} bytes are waiting`);
    } else {
      this.#waiting.push(text);
      this.#waitingBytes = waitingBytes;
      this.#writing ??= this.#write();
    }
  }

  /** Writes the waiting lines, then closes the file. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#writing;
    await this.#handle.close();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const bytes = Buffer.from(this.#waiting.splice(0).join(''));
      try {
        await this.#handle.appendFile(bytes);
        await this.#handle.datasync();
        this.#bytes += bytes.length;
        this.#waitingBytes -= bytes.length;
      } catch (cause) {
        this.#waiting = [];
        await this.#handle.truncate(this.#bytes).catch(() => {});
        this.#fail(messageOf(cause), cause);
      }
    }
    this.#writing = null;
  }

  #fail(why: string, cause?: unknown): void {
    this.#isOpen = false;
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#failed(cannotRecord(this.#path, `${why}; recording has stopped, and the lines before are kept`, cause));
  }
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

async function openEmpty(path: string): Promise<FileHandle> {
  try {
    // Opening a pipe without a reader would block.
    const found = await stat(path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (found && !found.isFile()) throw cannotRecord(path, 'it is not a regular file');
    if (found && found.size > 0)
      throw cannotRecord(
        path,
        'it is not empty, and recording never overwrites a file: move it, or choose another name',
      );
    return await open(path, found ? 'a' : 'ax', 0o600);
  } catch (error) {
    throw error instanceof BridgeError ? error : cannotRecord(path, messageOf(error), error);
  }
}

function cannotRecord(path: string, why: string, cause?: unknown): BridgeError {
  return new BridgeError(
    'BRIDGE_SIMULATOR_RECORDING',
    `cannot record to ${path}: ${why}`,
    cause === undefined ? {} : { cause },
  );
}
