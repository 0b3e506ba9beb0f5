// A text → whether a header can hold it.

export const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
export const HEADER_VALUE_FAULT = 'must contain only printable ASCII, without line breaks or other control characters';

/** What is wrong, without a word of it; null where nothing is. */
export function headerFault(text: string): string | null {
  return HEADER_VALUE.test(text) ? null : HEADER_VALUE_FAULT;
}

/** The text itself. @throws RangeError that says what is wrong, without a word of it */
export function headerValue(text: string): string {
  const fault = headerFault(text);
  if (fault !== null) throw new RangeError(fault);
  return text;
}
