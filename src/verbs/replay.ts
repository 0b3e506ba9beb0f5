// `replay`: journalled CloudEvents of a time span → queued again for one sink, same bytes and ids.
import { knownSink, withStore } from './store.ts';
import { EXIT, needed, optionTime, text, type Verb } from './verb.ts';

export const replay: Verb = {
  usage: '--sink NAME --since TIME [--until TIME] [--event EVENT_ID] --config FILE',
  description: `Queues what the journal holds of that time for one sink again, in its old order, behind what the sink has queued by now; prints how many.
TIME is RFC 3339 (2026-11-21T10:00:00Z) or a duration ago (90m, 2d). The journal reaches back as far as store.retain.
Works beside a running bridge, which sees what was queued within a second.`,
  options: {
    sink: { type: 'string', value: 'NAME', help: 'the sink that gets them' },
    since: { type: 'string', value: 'TIME', help: 'from this time on' },
    until: { type: 'string', value: 'TIME', help: 'up to this time; now by default' },
    event: { type: 'string', value: 'EVENT_ID', help: 'only what tells of this event' },
    config: { type: 'string', value: 'FILE', help: 'the configuration, which names the store' },
  },
  examples: [
    ['scheduled-events-bridge replay --sink audit --since 2h --config bridge.yaml', 'the last two hours once more'],
    [
      'scheduled-events-bridge replay --sink hooks --since 2026-11-20T00:00:00Z --until 2026-11-21T00:00:00Z --config bridge.yaml',
      'a whole day that the receiver lost',
    ],
  ],
  async run(context) {
    const sink = needed(context, 'sink');
    needed(context, 'since');
    const sinceMs = optionTime(context, 'since') ?? 0;
    const untilMs = optionTime(context, 'until');
    const event = text(context, 'event');
    const count = await withStore(context, (outbox, sinks) =>
      outbox.replay.queue({
        sink: knownSink(sink, sinks),
        sinceMs,
        ...(untilMs === undefined ? {} : { untilMs }),
        ...(event === undefined ? {} : { eventKey: event.toLowerCase() }),
      }),
    );
    await context.print(JSON.stringify({ queued: count }));
    return EXIT.fine;
  },
};
