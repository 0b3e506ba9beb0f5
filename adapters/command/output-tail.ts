// Chunks of a program's output → its last 4 KiB as lines that are safe in a log.
import { visibleLine } from '../../src/formats/visible-text.ts';

const KEPT_BYTES = 4096;
/** What a text of a log line may have (docs/operate/logs.md), in UTF-16 units. */
const LONGEST_PIECE = 512;

/** Keeps the end of a stream of any length, in bounded memory. */
export class OutputTail {
  #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #bytes = 0;

  /** All bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    // A copy, so that no large buffer of which it is a part stays.
    const end = Uint8Array.from(chunk.byteLength > KEPT_BYTES ? chunk.subarray(-KEPT_BYTES) : chunk);
    this.#chunks.push(end);
    this.#keptBytes += end.byteLength;
    if (this.#keptBytes > 4 * KEPT_BYTES || this.#chunks.length > 64) this.#shrink();
  }

  /** The last 4 KiB by lines, without empty ones; what is too long for a log line in pieces. */
  lines(): readonly string[] {
    this.#shrink();
    const kept = this.#chunks[0] ?? new Uint8Array();
    const text = Buffer.from(this.#bytes > kept.byteLength ? fromCharacter(kept) : kept).toString();
    return text
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

/** Without what is left of a character of UTF-8 that was cut. */
function fromCharacter(bytes: Uint8Array): Uint8Array {
  const first = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(first, 0));
}

/** Never within a surrogate pair. */
function pieces(line: string): readonly string[] {
  if (line.length <= LONGEST_PIECE) return [line];
  const isSplit = /[\uD800-\uDBFF]/.test(line.charAt(LONGEST_PIECE - 1));
  const end = isSplit ? LONGEST_PIECE - 1 : LONGEST_PIECE;
  return [line.slice(0, end), ...pieces(line.slice(end))];
}
