// `resume`: a retired or paused sink → one that delivers its queue again.
import { toRfc3339Seconds } from '../formats/dates.ts';
import { ACT_OPTIONS, ACT_USAGE, ACT_WORDS } from './bridge/act.ts';
import { changeSink } from './bridge/pause.ts';
import { knownSink, withStore } from './store.ts';
import { EXIT, needed, optionText, usageError, type Verb } from './verb.ts';

export const resumeVerb: Verb = {
  usage: `SINK ${ACT_USAGE}\n       scheduled-events-bridge resume --sink NAME --config FILE`,
  takesWords: true,
  description: `A sink is retired if its receiver permanently rejects deliveries, as a webhook does with status 410. Its queue stays, but deliveries that get older than
retry.maxAge become dead letters. An operator can also pause a sink; a paused sink gives up no delivery. Both kinds deliver again after this command.
With --sink it works on the store, whether a bridge is running or not: a running one resumes within a second. It prints how many deliveries are queued,
since when the sink stood still, and why. Exits with 1 if the sink is neither retired nor paused.
With SINK it asks a running bridge, as an admin, and prints the sink.
${ACT_WORDS}`,
  options: {
    sink: { type: 'string', value: 'NAME', help: 'the sink, to resume it in the store' },
    ...ACT_OPTIONS,
  },
  examples: [
    ['scheduled-events-bridge resume --sink hooks --config bridge.yaml', 'once its endpoint is back'],
    [
      'scheduled-events-bridge resume hooks --bridge http://127.0.0.1:8700 --token-env ADMIN_TOKEN',
      'at a running bridge',
    ],
  ],
  async run(context) {
    if (optionText(context, 'sink') === undefined) return await changeSink(context, 'resume');
    if (context.positionals.length > 0) throw usageError('give the sink once: as SINK or with --sink');
    if (optionText(context, 'bridge') !== undefined)
      throw usageError('--sink is for the store, which --config names; with --bridge give the sink without --sink');
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
