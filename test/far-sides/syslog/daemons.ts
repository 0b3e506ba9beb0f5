// The syslog daemons of this machine → the command of each, or the reason to skip its tests.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rsyslogConfiguration } from './rsyslog-configuration.ts';
import { syslogNgConfiguration } from './syslog-ng-configuration.ts';

/** The addresses and the output of a daemon: one line of JSON for each message, with the members of `ReadBack`. */
export interface DaemonPlace {
  readonly folder: string;
  readonly ports: Readonly<Record<'tcp' | 'tls' | 'udp', number>>;
  /** The server's PEM files. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly output: string;
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface DaemonKind {
  readonly name: 'rsyslog' | 'syslog-ng';
  /** False, or the reason why it cannot start here. */
  readonly isMissing: string | false;
  /** The framing on its local stream socket. */
  readonly localFraming: 'counted' | 'lines';
  readonly configuration: (place: DaemonPlace) => string;
  readonly command: (place: DaemonPlace, configFile: string) => Command;
}

const RSYSLOG_MODULES = ['lmnsd_gtls.so', 'mmnormalize.so'];
const RSYSLOG_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu/rsyslog',
  '/usr/lib/aarch64-linux-gnu/rsyslog',
  '/usr/lib64/rsyslog',
];

/**
 * The folder of the unpacked package syslog-ng-core, which cannot be installed together with rsyslog. Empty: it is
 * installed.
 */
const NG_ROOT = process.env['SYSLOG_NG_ROOT'] ?? '';
const NG_LIBRARIES = join(NG_ROOT || '/', 'usr/lib/syslog-ng');

export const rsyslog: DaemonKind = {
  name: 'rsyslog',
  isMissing: orRequired(noRsyslog()),
  localFraming: 'counted',
  configuration: rsyslogConfiguration,
  command: ({ folder }, configFile) => ({
    program: 'rsyslogd',
    args: ['-n', '-f', configFile, '-i', join(folder, 'rsyslog.pid')],
    env: {},
  }),
};

export const syslogNg: DaemonKind = {
  name: 'syslog-ng',
  isMissing: orRequired(noSyslogNg()),
  // Version 3.38 counts octets only on TCP and TLS.
  localFraming: 'lines',
  configuration: (place) => syslogNgConfiguration(place, versionOfSyslogNg() ?? ''),
  command: ({ folder }, configFile) => ({
    program: join(NG_ROOT || '/', 'usr/sbin/syslog-ng'),
    args: [
      ...[
        '--foreground',
        '--no-caps',
        '--cfgfile',
        configFile,
        '--module-path',
        join(NG_LIBRARIES, versionOfSyslogNg() ?? ''),
      ],
      ...[
        '--persist-file',
        join(folder, 'ng.persist'),
        '--pidfile',
        join(folder, 'ng.pid'),
        '--control',
        join(folder, 'ng.ctl'),
      ],
    ],
    env: { LD_LIBRARY_PATH: NG_LIBRARIES },
  }),
};

function noRsyslog(): string | false {
  if (spawnSync('rsyslogd', ['-v']).status !== 0) return 'rsyslogd is not installed';
  const missing = RSYSLOG_MODULES.filter(
    (module) => !RSYSLOG_FOLDERS.some((folder) => existsSync(join(folder, module))),
  );
  return missing.length > 0 && `rsyslog has no ${missing.join(', ')}: install rsyslog-gnutls`;
}

function noSyslogNg(): string | false {
  return (
    versionOfSyslogNg() === undefined &&
    'syslog-ng is not installed, and SYSLOG_NG_ROOT names no folder where its package was unpacked'
  );
}

/** Returns the version, such as `3.38`, for its configuration and module folder. */
function versionOfSyslogNg(): string | undefined {
  return existsSync(NG_LIBRARIES) ? readdirSync(NG_LIBRARIES).find((name) => /^\d+\.\d+$/.test(name)) : undefined;
}

/** @throws if REQUIRE_SYSLOG is set, as in CI */
function orRequired(reason: string | false): string | false {
  if (reason && process.env['REQUIRE_SYSLOG']) throw new Error(`${reason}; REQUIRE_SYSLOG is set`);
  return reason;
}
