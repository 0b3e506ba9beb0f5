// A sink type's name in other programs → the type of this bridge that was probably meant.

/**
 * Keys have only letters and digits, in lower case: `splunkheclogs` for Vector's `splunk_hec_logs`. Typing errors are
 * found by `nearest`.
 */
export const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...named('elasticsearch', 'opensearch', 'elastic', 'es'),
  ...named('splunk', 'splunkhec', 'splunkheclogs', 'hec'),
  ...named(
    'azure-monitor',
    'sentinel',
    'azuresentinel',
    'microsoftsentinel',
    'azuremonitorlogs',
    'azurelogsingestion',
    'loganalytics',
  ),
  ...named('otlp', 'opentelemetry', 'otel', 'otlphttp', 'loki', 'datadog', 'datadoglogs', 'newrelic', 'dynatrace'),
  ...named('syslog', 'rsyslog', 'syslogng', 'rfc5424', 'cef'),
  ...named('windows-event-log', 'eventlog', 'windowsevents', 'wineventlog', 'winlog'),
  ...named('webhook', 'http', 'https', 'eventgrid', 'slack', 'teams', 'pagerduty'),
  ...named('kafka', 'eventhub', 'eventhubs', 'azureeventhubs', 'redpanda'),
  ...named('service-bus', 'azureservicebus'),
  ...named('command', 'exec', 'program', 'script', 'shell'),
  ...named('kubernetes', 'k8s'),
  ...named('stdout', 'console'),
  ...named('file', 'ndjson', 'logfile'),
]);

/** @param kinds the supported types @returns undefined if no other program uses the name */
export function kindByOtherName(type: string, kinds: readonly string[]): string | undefined {
  const kind = OTHER_NAMES.get(type.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
  return kind !== undefined && kinds.includes(kind) ? kind : undefined;
}

function named(kind: string, ...others: readonly string[]): readonly (readonly [other: string, kind: string])[] {
  return others.map((other) => [other, kind]);
}
