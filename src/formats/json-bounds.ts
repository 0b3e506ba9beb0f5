// Untrusted JSON as bytes → whether parsing it takes little memory, by its values and levels. Pure.

/** Levels of arrays and objects. The deepest answer of any known service has about 20. */
const MOST_LEVELS = 100;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c] as const;
const [ARRAY, END_OF_ARRAY, OBJECT, END_OF_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/**
 * Returns whether the text has at most so many values and levels. `JSON.parse` takes up to 100 bytes of
 * memory for one byte such as `[`, so a limit of the length alone does not limit its memory. Does not check if the text
 * is valid JSON.
 * @param mostValues members of objects, items of arrays, objects and arrays together
 * @param mostLevels of arrays and objects; 100 by default
 */
export function hasFewValues(bytes: Uint8Array, mostValues: number, mostLevels = MOST_LEVELS): boolean {
  let [values, levels] = [1, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) values += 1;
    else if (byte === ARRAY || byte === OBJECT) {
      values += 1;
      levels += 1;
    } else if (byte === END_OF_ARRAY || byte === END_OF_OBJECT) levels -= 1;
    if (values > mostValues || levels > mostLevels) return false;
  }
  return true;
}

/** Returns the offset of the quote that ends a text, or the length of the bytes if none does. */
function endOfText(bytes: Uint8Array, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let first = end;
    while (bytes[first - 1] === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return bytes.length;
}
