// The adapter contract, clause by clause, for windows-event-log; the helper writes to a file.
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { eventLogEntry } from '../../../adapters/windows-event-log/event-log-entry.ts';
import { WindowsEventLogAdapter, windowsEventLogSink } from '../../../adapters/windows-event-log/windows-event-log.ts';
import { windowsEventLogOptions } from '../../../adapters/windows-event-log/windows-event-log-options.ts';
import { EventLogFarSide } from '../../far-sides/windows-event-log/event-log.ts';
import { type FarSide, testAdapter } from '../contract.ts';

/** The helper's command of each far side, by the source in its options. */
const commands = new Map<string, EventLogFarSide['command']>();

testAdapter({
  definition: {
    ...windowsEventLogSink,
    options: windowsEventLogOptions('win32'),
    create: (options, deps) => new WindowsEventLogAdapter(options, deps, commands.get(options.source)),
  },
  start: startEventLog,
  awayIs: 'retry',
  onTheWire: (delivery) => Buffer.from(eventLogEntry(delivery, 'text').text),
  skip: {
    'a key that gets no answer does not hold up another': 'the helper writes one entry at a time',
    'an overload is retried after the pause that the far side asks for': 'the event log asks for no pause',
  },
});

async function startEventLog(t: TestContext): Promise<FarSide> {
  const log = new EventLogFarSide(t);
  const source = `source-${commands.size}`;
  commands.set(source, log.command);
  return {
    options: { source },
    secrets: {},
    arrivals: () =>
      log.entries().map(({ text }) => ({
        bytes: Buffer.from(text),
        event: new CloudEvent(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))), true),
      })),
    contacts: () => log.starts().length,
    hang: () => log.behave('hang'),
    isStuck: () => log.isStuck(),
    stuckBytes: 0,
    accept: () => log.behave('accept'),
    refuse: () => log.behave(87),
    leave: async () => log.behave('end'),
    comeBack: async () => log.behave('accept'),
  };
}
