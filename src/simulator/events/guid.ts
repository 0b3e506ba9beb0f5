// Random numbers → a version 4 GUID in upper case, as the service writes EventIds.
import type { Deps } from '../../time/clock.ts';

export function guid(random: Deps['random']): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16));
  digits[12] = 4;
  digits[16] = 8 + ((digits[16] ?? 0) % 4);
  const hex = digits
    .map((digit) => digit.toString(16))
    .join('')
    .toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
