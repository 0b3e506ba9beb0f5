// `tail`: a bridge's stream, or its store → each published CloudEvent on standard output.
import { BridgeError } from '../../errors.ts';
import { toText } from '../../log-record/formats.ts';
import { logRecord } from '../../log-record/log-record.ts';
import { CHANGE_NAMES } from '../../model/change-names.ts';
import { type Colour, EXIT, optionText, optionTime, type Verb, type VerbContext } from '../verb.ts';
import { BRIDGE_OPTIONS, DEFAULT_BRIDGE } from './bridge-client.ts';
import type { TailRequest } from './follow.ts';
import { followBridge, followStore } from './follow.ts';

const COLOURS: Readonly<Record<string, Colour>> = { WARN: 'yellow', ERROR: 'red' };

export const tail: Verb = {
  usage: '[--since TIME] [--changes A,B] [--json] [--bridge URL [--token-env NAME] | --config FILE]',
  description: `Prints each published CloudEvent until it is interrupted: one readable line on a terminal, otherwise (or with --json) the CloudEvent on one line.
With --bridge it reads the bridge's stream, and continues after the last printed event if the connection breaks. With --config it reads the store,
whether the bridge is running or not; no secret of the configuration is read. The default is http://127.0.0.1:8700.
TIME is RFC 3339 (2026-11-21T10:00:00Z) or a duration ago (90m, 2d), back to store.retain. Without --since it prints only new CloudEvents.`,
  options: {
    since: { type: 'string', value: 'TIME', help: 'starts with what was published since then' },
    changes: { type: 'string', value: 'A,B', help: `only these: ${CHANGE_NAMES.join(', ')}` },
    json: { type: 'boolean', help: 'prints CloudEvents on a terminal, too' },
    config: { type: 'string', value: 'FILE', help: 'the configuration, which names the store' },
    ...BRIDGE_OPTIONS,
  },
  examples: [
    ['scheduled-events-bridge tail --bridge http://127.0.0.1:8700 --since 1h', 'the last hour, then new CloudEvents'],
    ['scheduled-events-bridge tail --config bridge.yaml --since 7d --changes scheduled,started,ended', 'from the store, without a bridge'],
  ],
  async run(context) {
    const [bridge, file] = [optionText(context, 'bridge'), optionText(context, 'config')];
    if (bridge !== undefined && file !== undefined)
      throw new BridgeError('BRIDGE_USAGE', '--config and --bridge exclude each other: give one of them');
    const request = { sinceMs: optionTime(context, 'since') ?? null, changes: changesOption(context), show: printer(context) };
    if (file === undefined) return await followBridge(context, bridge ?? DEFAULT_BRIDGE, request);
    await followStore(context, file, request);
    return EXIT.fine;
  },
};

function changesOption(context: VerbContext): readonly string[] | null {
  const value = optionText(context, 'changes');
  if (value === undefined) return null;
  const names = value.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !CHANGE_NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new BridgeError('BRIDGE_USAGE', `--changes takes ${CHANGE_NAMES.join(', ')}, not "${unknown}"`);
  return names;
}

function printer({ stdout, values, print }: VerbContext): TailRequest['show'] {
  if (!stdout.isTTY || values['json'] === true) return print;
  return (json) => {
    const record = logRecord(Buffer.from(json));
    const drill = record.attributes['drill'] === true ? ' (a drill)' : '';
    return print(`${toText(record)}${drill}`, COLOURS[record.severity]);
  };
}
