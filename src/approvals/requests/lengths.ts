// Texts of a caller → a refusal where one is too long. Pure.
import { type Refusal, refusal } from './answer.ts';

/** Those of Azure have 36. */
const LONGEST_EVENT_ID = 256;

/** What is wrong with an EventId, or with the name of an approver, that a caller wrote; null where nothing is. */
export function lengthFault(text: string): string | null {
  return isLonger(text, LONGEST_EVENT_ID) ? `is longer than ${LONGEST_EVENT_ID} characters` : null;
}

/** In characters, not in UTF-16 units; does not count to the end of what is much longer. */
export function isLonger(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || [...text].length > most);
}

/** The refusal of what is too long to name an event or an approver; null where it is not. */
export function tooLong(text: string, what = 'The EventId in the path'): Refusal | null {
  const fault = lengthFault(text);
  return fault === null ? null : refusal('bad-request', `${what} ${fault}.`);
}
