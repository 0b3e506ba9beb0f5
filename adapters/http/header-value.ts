// A text → whether a header can hold it.

export const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
export const HEADER_VALUE_FAULT = 'must hold printable ASCII alone, without line ends or other control characters';

/** What is wrong, without a word of it; null where nothing is. */
export function headerFault(text: string): string | null {
  return HEADER_VALUE.test(text) ? null : HEADER_VALUE_FAULT;
}
