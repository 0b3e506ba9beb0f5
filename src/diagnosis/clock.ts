// The Date header of the metadata service and this machine's clock → a finding if they differ.
import { type Finding, fault } from './finding.ts';

/** The header has whole seconds, and an answer may take some time. */
const TOLERATED_MS = 5000;

/** @param date the header, if any @param wallMs when the answer arrived */
export function clockFindings(date: string | undefined, wallMs: number): readonly Finding[] {
  const serviceMs = Date.parse(date ?? '');
  const offMs = wallMs - serviceMs;
  if (Number.isNaN(offMs) || Math.abs(offMs) <= TOLERATED_MS) return [];
  const off = `${Math.round(Math.abs(offMs) / 1000)} s ${offMs > 0 ? 'ahead of' : 'behind'}`;
  return [
    fault(
      'clock',
      `this machine's clock is ${off} the clock of the metadata service: deadlines, notices and signatures depend on it. Synchronize it with NTP, ` +
        'or with chrony and the PTP clock of Azure; "timedatectl" shows its state',
    ),
  ];
}
