// The sink type `syslog`: options → an adapter that sends CloudEvents to a syslog server.
import type { AdapterDefinition } from '../adapter.ts';
import { SyslogAdapter } from './syslog-adapter.ts';
import { type SyslogOptions, syslogOptions, tlsFileFaults } from './syslog-options.ts';

/** Defines the sink type `syslog`: RFC 5424 messages over TLS, TCP, UDP or a local stream socket. */
export const syslog: AdapterDefinition<SyslogOptions> = {
  type: 'syslog',
  options: syslogOptions,
  secretFaults: tlsFileFaults,
  create: (options, deps) => new SyslogAdapter(options, deps),
};
