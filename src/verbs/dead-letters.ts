// `dead-letters`: an action and ids → dead letters listed, shown, queued again or discarded.
import { visibleLine } from '../formats/visible-text.ts';
import { logRecord } from '../log-record/log-record.ts';
import type { DeadLetter } from '../model/deliveries.ts';
import { withStore } from './store.ts';
import { oneOf } from './usage/command-line.ts';
import { EXIT, optionText, usageError, type Verb, type VerbContext } from './verb.ts';

const ACTIONS = ['list', 'show', 'retry', 'discard'] as const;

export const deadLettersVerb: Verb = {
  usage: 'list|show|retry|discard [ID...] [--sink NAME] --config FILE',
  takesWords: true,
  words: ACTIONS,
  description: `list     one line for each delivery that was given up: sink, reason, event, CloudEvent
show     the same, with the CloudEvent itself
retry    queues them again, after the deliveries that their sink has queued now
discard  deletes them permanently
IDs are CloudEvent ids. Without IDs, an action applies to all dead letters of the sink, or of every sink; discard needs IDs or --sink.
Works while the bridge is running: it sees queued deliveries within a second. Prints NDJSON if standard output is not a terminal.`,
  options: {
    sink: { type: 'string', value: 'NAME', help: 'only those of this sink' },
    config: { type: 'string', value: 'FILE', help: 'the configuration, which names the store' },
  },
  examples: [
    [
      'scheduled-events-bridge dead-letters list --config bridge.yaml',
      'list deliveries that were given up, with the reason',
    ],
    [
      'scheduled-events-bridge dead-letters retry --sink hooks --config bridge.yaml',
      'retry all dead letters of a sink that works again',
    ],
    [
      'scheduled-events-bridge dead-letters discard c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled --config bridge.yaml',
      'delete one dead letter',
    ],
  ],
  async run(context) {
    const action = oneOf(context, ACTIONS);
    const ids = context.positionals.slice(1);
    const sink = optionText(context, 'sink');
    if (action === 'discard' && ids.length === 0 && sink === undefined)
      throw usageError('discard cannot be undone: give the IDs, or --sink for all dead letters of a sink');
    const filter = { ...(sink === undefined ? {} : { sink }), ...(ids.length === 0 ? {} : { ids }) };
    return await withStore(context, async (outbox) => {
      if (action === 'list' || action === 'show')
        return await list(context, outbox.deadLetters.list(filter), ids, action === 'show');
      const count = action === 'retry' ? outbox.deadLetters.retry(filter) : outbox.deadLetters.discard(filter);
      await context.print(JSON.stringify(action === 'retry' ? { queued: count } : { discarded: count }));
      return exitCode(context, ids, count);
    });
  },
};

type Shown = DeadLetter & { readonly cloudEvent: unknown };

async function list(
  context: VerbContext,
  letters: Iterable<Shown>,
  ids: readonly string[],
  whole: boolean,
): Promise<number> {
  let count = 0;
  for (const { cloudEvent, ...letter } of letters) {
    count++;
    if (whole)
      await context.print(JSON.stringify({ ...letter, cloudEvent }, null, context.stdout.isTTY ? 2 : undefined));
    else await context.print(context.stdout.isTTY ? row(letter, cloudEvent) : JSON.stringify(letter));
  }
  if (count === 0 && context.stdout.isTTY) await context.print('no dead letters');
  return exitCode(context, ids, count);
}

function exitCode(context: VerbContext, ids: readonly string[], found: number): number {
  if (ids.length === 0 || found > 0) return EXIT.fine;
  context.warn('no dead letter has this id; `dead-letters list` shows all of them');
  return EXIT.failed;
}

function row({ at, sink, reason, status, attempts, id }: DeadLetter, cloudEvent: unknown): string {
  const answer = status === null ? '' : ` (${status})`;
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const { message } = logRecord(Buffer.from(JSON.stringify(cloudEvent)));
  return visibleLine(`${at}  ${sink}  ${reason}${answer} after ${tries}  ${message}  ${id}`);
}
