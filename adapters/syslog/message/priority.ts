// A facility and a severity → the PRI of a syslog message (RFC 5424, section 6.2.1). Pure.

/** The facilities, by their names in syslog daemons. */
export const FACILITIES = {
  kern: 0,
  user: 1,
  mail: 2,
  daemon: 3,
  auth: 4,
  syslog: 5,
  lpr: 6,
  news: 7,
  uucp: 8,
  cron: 9,
  authpriv: 10,
  ftp: 11,
  local0: 16,
  local1: 17,
  local2: 18,
  local3: 19,
  local4: 20,
  local5: 21,
  local6: 22,
  local7: 23,
} as const;

export type Facility = keyof typeof FACILITIES;

const [ERROR, WARNING, INFORMATIONAL] = [3, 4, 6];

/**
 * Returns the PRI, such as `<28>` for a warning of a daemon.
 * @param severityNumber OpenTelemetry's number: 9 INFO, 13 WARN, 17 ERROR
 */
export function priority(facility: Facility, severityNumber: number): string {
  const severity = severityNumber >= 17 ? ERROR : severityNumber >= 13 ? WARNING : INFORMATIONAL;
  return `<${FACILITIES[facility] * 8 + severity}>`;
}
