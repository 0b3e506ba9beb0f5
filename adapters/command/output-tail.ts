// Chunks of a program's output → its last 4 KiB as lines, or its last line, safe to show.
import { shortenedText, visibleLine } from '../../src/formats/visible-text.ts';

const KEPT_BYTES = 4096;
/** The maximum length of a text in a log line (docs/operate/logs.md), in UTF-16 units. */
const LONGEST_PIECE = 512;
/** The maximum length of a last line, in UTF-16 units. */
const LONGEST_LAST = 1000;
const HIDDEN = '[secret]';
/** The minimum length of a hidden text, in UTF-16 units. Shorter ones occur in unrelated texts. */
const SHORTEST_SECRET = 4;

/** Returns the secrets that are hidden, the longest first, because one may contain another. */
export function hiddenTexts(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .sort((one, other) => other.length - one.length);
}

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
    return this.#shown(hidden)
      .split(/\r?\n/)
      .filter((line) => line !== '')
      .flatMap((line) => pieces(escaped(line)));
  }

  /**
   * Returns the last line with a visible character, also if it has no end yet, or null. What a carriage return
   * overwrites on a terminal is left out. Also hides a secret of which only the beginning has arrived.
   */
  lastLine(hidden: readonly string[]): string | null {
    const text = hidden.reduce(withoutStartOf, this.#shown(hidden, true));
    const line = text.split(/[\r\n]/).findLast((each) => each.trim() !== '');
    return line === undefined ? null : shortenedText(escaped(line), LONGEST_LAST);
  }

  /** @param goesOn whether a character that is cut at the end is left out */
  #shown(hidden: readonly string[], goesOn = false): string {
    this.#shrink();
    const kept = this.#chunks[0] ?? new Uint8Array();
    const isCut = this.#bytes > kept.byteLength;
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const text = decoder.decode(isCut ? fromCharacter(kept) : kept, { stream: goesOn });
    return hidden.reduce(
      (shown, secret) => (isCut ? withoutEndOf(secret, shown) : shown).replaceAll(secret, HIDDEN),
      text,
    );
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
  // Both ends of a long secret may be outside of the text.
  if (text.length >= SHORTEST_SECRET && secret.includes(text)) return HIDDEN;
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST_SECRET; length--)
    if (text.startsWith(secret.slice(-length))) return HIDDEN + text.slice(length);
  return text;
}

/** Hides the beginning of a secret whose rest has not arrived. */
function withoutStartOf(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST_SECRET; length--)
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + HIDDEN;
  return text;
}

function escaped(line: string): string {
  return visibleLine(line).replaceAll('\t', '\\t');
}

/** Never splits a surrogate pair. */
function pieces(line: string): readonly string[] {
  if (line.length <= LONGEST_PIECE) return [line];
  const isSplit = /[\uD800-\uDBFF]/.test(line.charAt(LONGEST_PIECE - 1));
  const end = isSplit ? LONGEST_PIECE - 1 : LONGEST_PIECE;
  return [line.slice(0, end), ...pieces(line.slice(end))];
}
