// A configured token → the reason why it is too weak, or null. Pure.

const SHORTEST = 16;

/** Returns null for a usable token. The reason does not quote the token. */
export function tokenFault(token: string): string | null {
  if (token.length < SHORTEST)
    return `is shorter than ${SHORTEST} characters: \`openssl rand -hex 32\` makes a good one`;
  if (!/^[\x21-\x7e]+$/.test(token))
    return 'has a space, a line end or a non-ASCII character, which an Authorization header cannot contain';
  if (/^(.)\1*$/.test(token))
    return 'repeats a single character, which is easy to guess: `openssl rand -hex 32` makes a good one';
  return null;
}
