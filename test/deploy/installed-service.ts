// A booted machine and packages → the service installed, its far sides beside it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../support/poll.ts';
import type { BootedMachine } from './booted-machine.ts';

export const CONFIG = '/etc/scheduled-events-bridge/bridge.yaml';
export const DATABASE = '/var/lib/private/scheduled-events-bridge/outbox.db';
const AZURE = 'http://169.254.169.254';
/** It rejects what comes to /refusing while the file /root/refuse exists. */
const RECEIVER = `require('node:http').createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => { body += text; }).on('end', () => {
    const isRefused = request.url === '/refusing' && require('node:fs').existsSync('/root/refuse');
    if (!isRefused) require('node:fs').appendFileSync('/root/received', request.url + ' ' + body + '\\n');
    response.writeHead(isRefused ? 400 : 204).end();
  });
}).listen(9000, '127.0.0.1');`;
/** A sink for the receiver, below the sinks of a fresh configuration. */
export const HOOK =
  '  hook: { type: webhook, url: "http://127.0.0.1:9000/", allowInsecure: true, allowPrivate: [127.0.0.0/8] }\n';

export function debIn(folder: string): string {
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.deb')) ?? '');
}

/** Installs a .deb as a user does; with what apt said. */
export function install(machine: BootedMachine, folder: string): string {
  return machine.run('apt-get', 'install', '--quiet', '--yes', '--allow-downgrades', machine.take(debIn(folder)));
}

/** What stays over reboots: the simulator at the metadata service's address, and the receiver. */
export function installFarSides(machine: BootedMachine): void {
  machine.write('/root/receiver.js', RECEIVER);
  machine.write('/root/received', '');
  const unit = (command: string) =>
    `[Unit]\nBefore=scheduled-events-bridge.service\n[Service]\nExecStart=${command}\n[Install]\nWantedBy=multi-user.target\n`;
  machine.write(
    '/etc/systemd/system/azure.service',
    unit('/usr/bin/scheduled-events-bridge simulate --listen 169.254.169.254:80'),
  );
  machine.write(
    '/etc/systemd/system/receiver.service',
    unit('/usr/lib/scheduled-events-bridge/bin/node /root/receiver.js'),
  );
  machine.run('systemctl', 'enable', '--quiet', '--now', 'azure', 'receiver');
}

/** Appends to the configuration and starts anew. */
export function configure(machine: BootedMachine, text: string): void {
  machine.write(CONFIG, machine.read(CONFIG) + text);
  machine.run('systemctl', 'restart', 'scheduled-events-bridge');
}

/** Schedules a reboot of the machine; with its EventId in lower case. */
export function schedule(machine: BootedMachine): string {
  const answer = machine.run(
    'curl',
    '--silent',
    '--fail',
    '--data',
    '{"EventType":"Reboot"}',
    `${AZURE}/simulator/events`,
  );
  return (JSON.parse(answer) as { EventId: string }).EventId.toLowerCase();
}

/** Resolves once the bridge sees its metadata service. */
export async function ready(machine: BootedMachine): Promise<void> {
  await poll(
    () => machine.try('scheduled-events-bridge', 'health', '--config', CONFIG).status === 0,
    () => journal(machine),
    60_000,
  );
}

export function journal(machine: BootedMachine): string {
  return machine.run('journalctl', '--no-pager', '--output=cat', '--unit=scheduled-events-bridge');
}

/** Resolves once the receiver has the change of the event; how often it came. */
export async function received(machine: BootedMachine, eventId: string, change = 'scheduled'): Promise<number> {
  const count = () => machine.try('cat', '/root/received').stdout.split(`"id":"${eventId}:${change}"`).length - 1;
  await poll(
    () => count() > 0,
    () => journal(machine),
    60_000,
  );
  return count();
}

/** Runs a statement on the bridge's store, and returns the rows. */
export function onStore(machine: BootedMachine, statement: string): readonly Record<string, string | number>[] {
  const script = `console.log(JSON.stringify(new (require('node:sqlite').DatabaseSync)('${DATABASE}').prepare('${statement}').all()))`;
  const node = ['/usr/lib/scheduled-events-bridge/bin/node', '--disable-warning=ExperimentalWarning'];
  return JSON.parse(machine.run(...node, '--eval', script));
}
