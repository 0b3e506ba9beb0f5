// A text → whether it is a valid header value.

export const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
export const HEADER_VALUE_FAULT = 'must contain only printable ASCII, without line breaks or other control characters';

/** Returns the fault, without any of the text, or null if the text is valid. */
export function headerFault(text: string): string | null {
  return HEADER_VALUE.test(text) ? null : HEADER_VALUE_FAULT;
}

/** Returns the text itself. @throws RangeError with the fault, without any of the text */
export function headerValue(text: string): string {
  const fault = headerFault(text);
  if (fault !== null) throw new RangeError(fault);
  return text;
}
