// `events`: the metadata service's document → JSON on standard output, once or after each change.
import { messageOf } from '../errors.ts';
import { visibleLine } from '../formats/visible-text.ts';
import { parseDocument } from '../metadata/document.ts';
import { statusError } from '../metadata/faults.ts';
import { createHttpTransport } from '../metadata/http-transport.ts';
import { PollSchedule } from '../metadata/poll.ts';
import type { MetadataTransport } from '../metadata/transport.ts';
import { sleep } from '../time/clock.ts';
import { apiVersionOption, ENDPOINT_OPTION, endpointOption, FIRST_TIMEOUT_MS } from './metadata-service.ts';
import { EXIT, optionNumber, optionText, type Verb, type VerbContext } from './verb.ts';

const POLL_INTERVAL_MS = 1000;

export const eventsVerb: Verb = {
  usage: '[--endpoint URL] [--watch] [--count N] [--api-version V]',
  description: `Needs no configuration. With --watch it polls once a second and prints each new document on one line, until it is interrupted
or has printed --count documents (--count implies --watch). The first answer of a metadata service that was off can take 2 minutes.`,
  options: {
    endpoint: ENDPOINT_OPTION,
    watch: { type: 'boolean', help: 'keeps polling and prints each new document' },
    count: { type: 'string', value: 'N', help: 'ends after N documents; implies --watch' },
    'api-version': { type: 'string', value: 'V', help: 'api-version of the requests (default 2020-07-01)' },
  },
  examples: [
    ['scheduled-events-bridge events', 'print the events of this VM and its group'],
    [
      'scheduled-events-bridge events --watch --endpoint http://127.0.0.1:8080',
      "print the simulator's documents as they change",
    ],
  ],
  async run(context) {
    const url = `${endpointOption(context)}/metadata/scheduledevents?api-version=${apiVersionOption(context)}`;
    const transport = createHttpTransport(context.deps);
    try {
      if (!context.values['watch'] && optionText(context, 'count') === undefined) {
        await context.print(JSON.stringify(await read(transport.send, url, context.signal), null, 2));
        return EXIT.fine;
      }
      await watch(context, () => read(transport.send, url, context.signal));
      return EXIT.fine;
    } finally {
      transport.close();
    }
  },
};

/** Returns the document as received, including unknown fields. An empty answer counts as a document without events. */
async function read(send: MetadataTransport, url: string, signal: AbortSignal): Promise<unknown> {
  const answer = await send({ method: 'GET', url, headers: { Metadata: 'true' }, timeoutMs: FIRST_TIMEOUT_MS }, signal);
  if (answer.status !== 200) throw statusError(answer, url, 0);
  const document = parseDocument(answer.body, '');
  return document.incarnation === null ? { Events: [] } : JSON.parse(new TextDecoder().decode(answer.body));
}

async function watch(context: VerbContext, readOnce: () => Promise<unknown>): Promise<void> {
  const schedule = new PollSchedule({ intervalMs: POLL_INTERVAL_MS, random: context.deps.random });
  const count = optionNumber(context, 'count', 1) ?? Number.POSITIVE_INFINITY;
  let last = '';
  for (let printed = 0; printed < count; ) {
    const startedMs = context.deps.elapsedMs();
    let failure: Error | null = null;
    try {
      const line = JSON.stringify(await readOnce());
      if (line !== last) {
        await context.print(line);
        last = line;
        printed++;
      }
    } catch (error) {
      context.signal.throwIfAborted();
      failure = error instanceof Error ? error : new Error(String(error));
      context.warn(visibleLine(messageOf(error)));
    }
    if (printed < count)
      await sleep(context.deps, schedule.next(failure, context.deps.elapsedMs() - startedMs), context.signal);
  }
}
