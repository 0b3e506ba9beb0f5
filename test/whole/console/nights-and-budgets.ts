// The time → the approvals of a bridge: "Redeploys at night, never two databases at once".
import { SECTIONS } from './console-bridge.ts';

const HOUR_MS = 3_600_000;
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** `HH:MM` so many hours from now: the window is shut now at any hour of the test. */
const clockIn = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString().slice(11, 16);

/** Nights begin in 3 hours. */
export function nightsAndBudgets(): object {
  return {
    ...(SECTIONS['approvals'] as object),
    windows: { nights: { days: DAYS, from: clockIn(3), to: clockIn(8) } },
    budgets: { databases: { resources: ['db_*'], atMost: 1 } },
    policy: [
      { when: { impacts: ['Redeploy'] }, then: 'approve', during: ['nights'], budgets: ['databases'] },
      { when: { impacts: ['Reboot'] }, then: 'approve', budgets: ['databases'] },
    ],
  };
}
