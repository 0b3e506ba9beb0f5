// Addresses → syslog-ng's configuration: every transport, one line of JSON for each message.
import { join } from 'node:path';
import type { DaemonPlace } from './daemons.ts';

const FIELDS = {
  priority: '$PRI',
  time: '$S_ISODATE',
  host: '$HOST',
  appName: '$PROGRAM',
  messageId: '$MSGID',
  message: '$MESSAGE',
};

/** @param version of syslog-ng, such as `3.38` */
export function syslogNgConfiguration(
  { folder, ports, certFile, keyFile, output }: DaemonPlace,
  version: string,
): string {
  const pairs = Object.entries(FIELDS).map(([name, macro]) => `--pair ${name}=${macro}`);
  const listener = (transport: 'tcp' | 'tls' | 'udp', more = '') =>
    `syslog(ip(127.0.0.1) port(${ports[transport]}) transport(${transport}) ${more});`;
  return `@version: ${version}
options { stats-freq(0); keep-hostname(yes); use-dns(no); chain-hostnames(no); log-msg-size(131072); frac-digits(3); time-zone("+00:00"); };
source all {
  ${listener('udp')}
  ${listener('tcp')}
  ${listener('tls', `tls(key-file("${keyFile}") cert-file("${certFile}") peer-verify(optional-untrusted))`)}
  unix-stream("${join(folder, 'log.sock')}" flags(syslog-protocol));
};
destination kept { file("${output}" template("$(format-json --scope sdata ${pairs.join(' ')})\\n")); };
log { source(all); destination(kept); };
`;
}
