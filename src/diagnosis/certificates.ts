// When a certificate expires, and the time → the stage of its warnings, and the words of each.

const DAY_MS = 86_400_000;
/** The moments of the two warnings before the end, and the end itself. */
const BEFORE_MS = [30 * DAY_MS, 7 * DAY_MS, 0] as const;

/** Returns how many of the three moments have passed: 30 days before, 7 days before, the end. */
export function expiryStage(expiresAtMs: number, wallMs: number): number {
  return BEFORE_MS.filter((beforeMs) => wallMs >= expiresAtMs - beforeMs).length;
}

/** The number of moments: this stage means that the certificate has expired. */
export const EXPIRED = BEFORE_MS.length;

interface ShownCertificate {
  /** The key of the configuration that names its file. */
  readonly name: string;
  /** Its distinguished name, possibly empty. */
  readonly subject: string;
  readonly expiresAtMs: number;
}

/** Returns when the certificate expires and what to do, from 30 days before; otherwise null. */
export function expiryWarning({ name, subject, expiresAtMs }: ShownCertificate, wallMs: number): string | null {
  const stage = expiryStage(expiresAtMs, wallMs);
  if (stage === 0) return null;
  const days = Math.floor(Math.abs(expiresAtMs - wallMs) / DAY_MS);
  const count = days === 0 ? 'less than a day' : days === 1 ? '1 day' : `${days} days`;
  const when = stage === EXPIRED ? `expired ${count} ago` : `expires in ${count}`;
  const at = new Date(expiresAtMs).toISOString().replace('.000Z', 'Z');
  const who = subject === '' ? '' : ` (${subject})`;
  return `${name}: the certificate ${when}, at ${at}: renew the file, which the bridge then reads again without a restart${who}`;
}
