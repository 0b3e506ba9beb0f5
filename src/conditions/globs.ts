// Globs and names → which names match: `*` is any text, `?` any one character. Pure.

/** How many of the names in Resources must match. `every` needs at least one name. */
export type Reach = 'any' | 'every';

/** The maximum length of a glob, in UTF-16 units. Names in Azure have at most 64. */
export const LONGEST_GLOB = 256;
/** Characters with a meaning in globs of shells and libraries, but not here. No name in Azure contains them. */
const FOREIGN_SIGNS = ['[', ']', '{', '}', '(', ')', '\\'];

/** Returns a fault if a glob contains a character of another glob syntax, with what to write instead, or null. */
export function globFault(glob: string): string | null {
  if (glob.startsWith('!'))
    return 'begins with !, but a glob cannot exclude names: list the names that must match, using only * and ?';
  const sign = FOREIGN_SIGNS.find((foreign) => glob.includes(foreign));
  if (sign === undefined) return null;
  return `holds ${sign}, but only * (any text) and ? (any one character) have a meaning: write a glob for each alternative, or ? in its place`;
}

/** Returns whether any name, or every name of at least one, matches one of these globs. Ignores letter case. */
export function compileGlobs(globs: readonly string[]): Readonly<Record<Reach, (names: readonly string[]) => boolean>> {
  const automaton = new Automaton(globs);
  return {
    any: (names) => names.some((name) => automaton.matches(name)),
    every: (names) => names.length > 0 && names.every((name) => automaton.matches(name)),
  };
}

const [STAR, QUESTION_MARK, CAPITAL_A, CAPITAL_Z] = [0x2a, 0x3f, 0x41, 0x5a];

/**
 * Some globs as one automaton. It follows every way through all of them at once and never goes back: one bit stands for
 * each place in a glob, and is set if the name so far matches the glob up to there. A name takes one step for each of
 * its characters, of three operations on as many bits as the globs have characters, whatever both hold (Baeza-Yates and
 * Gonnet, "A new approach to text searching", 1992).
 */
class Automaton {
  /** The first place of each glob, and the last. */
  readonly #first: bigint;
  readonly #last: bigint;
  /** Places that any text may follow, and any one character. */
  readonly #stars: bigint;
  readonly #questionMarks: bigint;
  /** Places that this character may follow, and any one. */
  readonly #following: ReadonlyMap<number, bigint>;

  constructor(globs: readonly string[]) {
    const [first, last, stars, questionMarks]: [number[], number[], number[], number[]] = [[], [], [], []];
    const following = new Map<number, number[]>();
    const placesOf = (character: number) => {
      const places = following.get(character) ?? [];
      following.set(character, places);
      return places;
    };
    let place = 0;
    for (const glob of globs) {
      first.push(place);
      for (const character of charactersOf(glob)) {
        if (character === STAR) stars.push(place);
        else if (character === QUESTION_MARK) questionMarks.push(place++);
        else placesOf(character).push(place++);
      }
      // No character follows the last place, so no way leads from one glob into the next.
      last.push(place++);
    }
    [this.#first, this.#last, this.#stars, this.#questionMarks] = [
      bitsOf(first),
      bitsOf(last),
      bitsOf(stars),
      bitsOf(questionMarks),
    ];
    this.#following = new Map(
      [...following].map(([character, places]) => [character, bitsOf(places) | this.#questionMarks]),
    );
  }

  /** Returns whether one of the globs matches a whole name. */
  matches(name: string): boolean {
    let reached = this.#first;
    for (const character of charactersOf(name)) {
      const stepping = reached & (this.#following.get(character) ?? this.#questionMarks);
      reached = (stepping << 1n) | (reached & this.#stars);
      if (reached === 0n) return false;
    }
    return (reached & this.#last) !== 0n;
  }
}

/**
 * The number that has these bits, given in ascending order. Built at once, as a step for each bit would take the square
 * of the time.
 */
function bitsOf(places: readonly number[]): bigint {
  const bytes = Buffer.alloc(((places.at(-1) ?? 0) >>> 3) + 1);
  for (const place of places) bytes[place >>> 3] = (bytes[place >>> 3] as number) | (1 << (place & 7));
  return BigInt(`0x${bytes.reverse().toString('hex')}`);
}

/** A text's characters (Unicode code points), each in lower case. */
function charactersOf(text: string): number[] {
  return Array.from(text, characterOf);
}

/** One whose lower case is several characters stays as it is, so that `?` matches it. */
function characterOf(character: string): number {
  const code = character.codePointAt(0) as number;
  if (code < 0x80) return code >= CAPITAL_A && code <= CAPITAL_Z ? code + 0x20 : code;
  const [lower = character, ...others] = character.toLowerCase();
  return others.length === 0 ? (lower.codePointAt(0) as number) : code;
}
