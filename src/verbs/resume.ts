// `resume`: a sink that is retired or paused → delivers its queue again.
import { toRfc3339Seconds } from '../formats/dates.ts';
import { knownSink, withStore } from './store.ts';
import { EXIT, needed, type Verb } from './verb.ts';

export const resume: Verb = {
  usage: '--sink NAME --config FILE',
  description: `A sink is retired when its other side says that it wants nothing any more, as a webhook does with status 410. Its queue stays; what gets older than
retry.maxAge meanwhile becomes a dead letter. An operator can pause a sink too, by POST /v1/sinks/NAME/pause: nothing is given up then.
This lets it deliver again, whichever it is, and prints how many deliveries wait, since when and why.
Works beside a running bridge, which sees it within a second. Exits with 1 where the sink is neither.`,
  options: {
    sink: { type: 'string', value: 'NAME', help: 'the sink' },
    config: { type: 'string', value: 'FILE', help: 'the configuration, which names the store' },
  },
  examples: [['scheduled-events-bridge resume --sink hooks --config bridge.yaml', 'once its endpoint is back']],
  async run(context) {
    const sink = needed(context, 'sink');
    const resumed = await withStore(context, (outbox, sinks) => {
      const retirement = outbox.queue.resume(knownSink(sink, sinks));
      return (
        retirement && {
          resumed: sink,
          queued: outbox.queue.backlog(sink).queued,
          since: toRfc3339Seconds(retirement.atMs),
          reason: retirement.reason,
        }
      );
    });
    if (resumed === null) {
      context.tell(
        `the sink "${sink}" is neither retired nor paused: there is nothing to resume; GET /readyz of a running bridge shows how it is`,
      );
      return EXIT.failed;
    }
    await context.print(JSON.stringify(resumed));
    return EXIT.fine;
  },
};
