// `resume`: a retired or paused sink → one that delivers its queue again.
import { toRfc3339Seconds } from '../formats/dates.ts';
import { knownSink, withStore } from './store.ts';
import { EXIT, needed, type Verb } from './verb.ts';

export const resumeVerb: Verb = {
  usage: '--sink NAME --config FILE',
  description: `A sink is retired if its receiver permanently rejects deliveries, as a webhook does with status 410. Its queue stays, but deliveries that get older than
retry.maxAge become dead letters. An operator can also pause a sink with POST /v1/sinks/NAME/pause; a paused sink gives up no delivery.
Both kinds deliver again after this command. It prints how many deliveries are queued, since when the sink stood still, and why.
Works while the bridge is running: it resumes within a second. Exits with 1 if the sink is neither retired nor paused.`,
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
      context.warn(
        `the sink "${sink}" is neither retired nor paused, so there is nothing to resume; GET /readyz of a running bridge shows its state`,
      );
      return EXIT.failed;
    }
    await context.print(JSON.stringify(resumed));
    return EXIT.fine;
  },
};
