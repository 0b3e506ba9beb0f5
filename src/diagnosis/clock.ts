// The Date of the metadata service's answer and this machine's clock → whether they agree.
import { type Finding, fault } from './finding.ts';

/** The header has whole seconds, and an answer may take a while. */
const TOLERATED_MS = 5000;

/** @param date the header; undefined where there was none @param wallMs when the answer arrived */
export function clockFindings(date: string | undefined, wallMs: number): readonly Finding[] {
  const toldMs = Date.parse(date ?? '');
  const offMs = wallMs - toldMs;
  if (Number.isNaN(offMs) || Math.abs(offMs) <= TOLERATED_MS) return [];
  const off = `${Math.round(Math.abs(offMs) / 1000)} s ${offMs > 0 ? 'ahead of' : 'behind'}`;
  return [
    fault(
      'clock',
      `this machine's clock is ${off} the metadata service's: deadlines, notices and signatures go by it. Let it be set by NTP or by chrony ` +
        'with the PTP clock of Azure; "timedatectl" shows whether it is',
    ),
  ];
}
