// A configured token → why it is too weak, if it is. Pure.

const SHORTEST = 16;

/** Null where it can; without a word of the token. */
export function tokenFault(token: string): string | null {
  if (token.length < SHORTEST) return `is shorter than ${SHORTEST} characters: \`openssl rand -hex 32\` makes a good one`;
  if (!/^[\x21-\x7e]+$/.test(token))
    return 'holds a space, a line end or a character beyond ASCII, which no Authorization header can carry';
  if (/^(.)\1*$/.test(token)) return 'is one character over and over, which is easily guessed: `openssl rand -hex 32` makes a good one';
  return null;
}
