// `replay`: a time span → its journalled CloudEvents, unchanged, queued again for one sink.
import { knownSink, withStore } from './store.ts';
import { EXIT, needed, optionText, optionTime, type Verb } from './verb.ts';

export const replayVerb: Verb = {
  usage: '--sink NAME --since TIME [--until TIME] [--event EVENT_ID] --config FILE',
  description: `Queues the journal's CloudEvents of a time span for one sink again, in their original order, after the sink's current queue. Prints how many.
TIME is RFC 3339 (2026-11-21T10:00:00Z) or a duration ago (90m, 2d). The journal reaches back as far as store.retain.
Works while the bridge is running: it sees queued deliveries within a second.`,
  options: {
    sink: { type: 'string', value: 'NAME', help: 'the sink that receives them' },
    since: { type: 'string', value: 'TIME', help: 'from this time on' },
    until: { type: 'string', value: 'TIME', help: 'up to this time; now by default' },
    event: { type: 'string', value: 'EVENT_ID', help: 'only the CloudEvents of this event' },
    config: { type: 'string', value: 'FILE', help: 'the configuration, which names the store' },
  },
  examples: [
    ['scheduled-events-bridge replay --sink audit --since 2h --config bridge.yaml', 'the last two hours again'],
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
    const event = optionText(context, 'event');
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
