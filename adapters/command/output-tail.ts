// Chunks of a program's output → its last 4 KiB, as lines that are safe in a log.
import type { Logger } from 'pino';
import { visibleLine } from '../../src/formats/visible-text.ts';

const KEPT_BYTES = 4096;
/** The maximum length of a text in a log line (docs/operate/logs.md), in UTF-16 units. */
const LONGEST_PIECE = 512;
const HIDDEN = '[secret]';
/** The minimum length of a hidden text, in UTF-16 units. Shorter ones occur in unrelated texts. */
export const SHORTEST_SECRET = 4;

/** Keeps the end of a stream of any length, in bounded memory. */
export class OutputTail {
  #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #bytes = 0;

  /** The number of bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    // A copy, so that the large buffer behind it can be freed.
    const end = Uint8Array.from(chunk.byteLength > KEPT_BYTES ? chunk.subarray(-KEPT_BYTES) : chunk);
    this.#chunks.push(end);
    this.#keptBytes += end.byteLength;
    if (this.#keptBytes > 4 * KEPT_BYTES || this.#chunks.length > 64) this.#shrink();
  }

  /**
   * Returns the last 4 KiB by lines, without empty lines. Lines that are too long for the log are split.
   * @param hidden texts that become `[secret]`
   */
  lines(hidden: readonly string[] = []): readonly string[] {
    this.#shrink();
    const kept = this.#chunks[0] ?? new Uint8Array();
    const isCut = this.#bytes > kept.byteLength;
    const text = Buffer.from(isCut ? fromCharacter(kept) : kept).toString();
    return hidden
      .reduce((shown, secret) => (isCut ? withoutEndOf(secret, shown) : shown).replaceAll(secret, HIDDEN), text)
      .split(/\r?\n/)
      .filter((line) => line !== '')
      .flatMap((line) => pieces(visibleLine(line).replaceAll('\t', '\\t')));
  }

  #shrink(): void {
    const kept = Buffer.concat(this.#chunks).subarray(-KEPT_BYTES);
    this.#chunks = [Uint8Array.from(kept)];
    this.#keptBytes = kept.byteLength;
  }
}

/** Removes the rest of a UTF-8 character that was cut at the beginning. */
function fromCharacter(bytes: Uint8Array): Uint8Array {
  const first = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(first, 0));
}

/** Hides the rest of a secret that was cut at the beginning of the text. */
function withoutEndOf(secret: string, text: string): string {
  for (let from = 1; from <= secret.length - SHORTEST_SECRET; from++)
    if (text.startsWith(secret.slice(from))) return HIDDEN + text.slice(secret.length - from);
  return text;
}

/** Never splits a surrogate pair. */
function pieces(line: string): readonly string[] {
  if (line.length <= LONGEST_PIECE) return [line];
  const isSplit = /[\uD800-\uDBFF]/.test(line.charAt(LONGEST_PIECE - 1));
  const end = isSplit ? LONGEST_PIECE - 1 : LONGEST_PIECE;
  return [line.slice(0, end), ...pieces(line.slice(end))];
}

interface Told {
  /** Logs with `info` if true, else `warn`. */
  readonly wentWell: boolean;
  /** Texts that must not be logged. */
  readonly hidden: readonly string[];
  readonly id: string;
}

export function logOutputs(
  outputs: { readonly stdout: OutputTail; readonly stderr: OutputTail },
  { wentWell, hidden, id }: Told,
  logger: Logger,
): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    for (const line of outputs[stream].lines(hidden)) {
      const fields = { id, stream, line };
      if (wentWell) logger.info(fields, 'the program said');
      else logger.warn(fields, 'the program said');
    }
  }
}
