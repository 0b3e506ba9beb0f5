// The bytes of a terminal → the keys that were pressed.

/** A key by name (`up`, `enter`), or a typed character. */
export type Key =
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'ctrl-c'
  | 'ctrl-l'
  | { readonly text: string };

/** The sequences of the common terminals, behind ESC. */
const SEQUENCES: Readonly<Record<string, Key>> = {
  ...{ '[A': 'up', OA: 'up', '[B': 'down', OB: 'down', '[5~': 'page-up', '[6~': 'page-down' },
  ...{ '[H': 'home', '[1~': 'home', OH: 'home', '[F': 'end', '[4~': 'end', OF: 'end' },
};
const CONTROLS: Readonly<Record<string, Key>> = {
  ...{ '\r': 'enter', '\n': 'enter', '\u007f': 'backspace', '\b': 'backspace', '\u0003': 'ctrl-c', '\f': 'ctrl-l' },
};
const ESC = '\u001b';
const [PASTE, PASTE_END] = ['[200~', '[201~'];

/** Use one for each terminal. */
export class KeyReader {
  #isPasting = false;

  /**
   * Returns the keys of one piece of input. A pasted text is no key: a `y` in it must not confirm anything. A terminal
   * sends a sequence in one piece, so an ESC at the end of a piece is the key.
   */
  read(input: string): readonly Key[] {
    const keys: Key[] = [];
    for (let at = 0; at < input.length; ) {
      const [key, length] = this.#next(input.slice(at));
      if (key !== null && !this.#isPasting) keys.push(key);
      at += length;
    }
    return keys;
  }

  #next(input: string): readonly [key: Key | null, length: number] {
    const first = String.fromCodePoint(input.codePointAt(0) ?? 0);
    if (first === ESC) return this.#sequence(input);
    const control = CONTROLS[first];
    if (control !== undefined) return [control, 1];
    return [first < ' ' ? null : { text: first }, first.length];
  }

  #sequence(input: string): readonly [key: Key | null, length: number] {
    const sequence = sequenceIn(input);
    if (sequence === '') return ['escape', 1];
    if (sequence === PASTE || sequence === PASTE_END) this.#isPasting = sequence === PASTE;
    return [SEQUENCES[sequence] ?? null, sequence.length + 1];
  }
}

/** Returns the sequence behind the ESC (ECMA-48, section 5.4); empty if ESC is a key. */
function sequenceIn(input: string): string {
  if (input[1] === 'O') return input.slice(1, 3);
  if (input[1] !== '[') return '';
  let end = 2;
  while (end < input.length && (input[end] ?? '') < '@') end += 1;
  return input.slice(1, end + 1);
}
