// `approve`: EventIds → StartRequests, or approvals through a bridge; one line for each.
import { createInterface } from 'node:readline';
import { BridgeError, messageOf } from '../errors.ts';
import { visibleLine } from '../formats/visible-text.ts';
import { RequestRate } from '../metadata/request-rate.ts';
import { deadline, sleep } from '../time/clock.ts';
import { authorization, BRIDGE_OPTIONS, bridgeUrl, postJson } from './bridge/bridge-client.ts';
import { ENDPOINT_OPTION, endpointOption, metadataClient } from './metadata-service.ts';
import { EXIT, text, type Verb, type VerbContext } from './verb.ts';

const BRIDGE_TIMEOUT_MS = 30_000;

/** The result for one EventId: an HTTP status, or null without an answer. */
interface Answer {
  readonly status: number | null;
  /** A readable addition: why it was refused or, through a bridge, that it waits. */
  readonly words: string | null;
}

export const approve: Verb = {
  usage: 'EVENT_ID... [--endpoint URL | --bridge URL --token-env NAME] [--interactive]',
  takesWords: true,
  description: `An approval starts the event for every VM in its Resources, and cannot be taken back.
Prints one line for each EventId, { eventId, status }, and exits with 1 if one of them was refused; why is said on standard error.
With --bridge it goes through a bridge's approval endpoint, as the approver whose token the environment variable holds.`,
  options: {
    endpoint: ENDPOINT_OPTION,
    ...BRIDGE_OPTIONS,
    interactive: { type: 'boolean', help: 'asks before each one' },
  },
  examples: [
    ['scheduled-events-bridge approve C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'start an event now'],
    [
      'scheduled-events-bridge approve C7061BAC-AFDC-4513-B24B-AA5F13A16123 --bridge http://127.0.0.1:8700 --token-env MY_TOKEN',
      'the same as an approver of a bridge',
    ],
  ],
  async run(context) {
    const ids = context.positionals;
    if (ids.length === 0) throw new BridgeError('BRIDGE_USAGE', 'approve takes at least one EventId; `events` prints them');
    if (text(context, 'bridge') === undefined) expectReal(ids);
    const send = sender(context);
    const isMeant = context.values['interactive'] ? asker(context) : () => true;
    let refused = false;
    for (const eventId of ids) {
      if (!(await isMeant(eventId))) continue;
      const { status, words } = await send(eventId);
      refused ||= status === null || status >= 300;
      await context.print(JSON.stringify({ eventId, status }));
      if (words !== null) context.tell(visibleLine(`${eventId}: ${words}`));
    }
    return refused ? EXIT.failed : EXIT.fine;
  },
};

/** The metadata service knows no drill, and is told of none. */
function expectReal(ids: readonly string[]): void {
  const drill = ids.find((id) => /^\s*drill-/i.test(id));
  if (drill === undefined) return;
  throw new BridgeError(
    'BRIDGE_USAGE',
    `${visibleLine(drill)} is a drill, which its bridge alone knows: approve it with --bridge; nothing was sent`,
  );
}

function sender(context: VerbContext): (eventId: string) => Promise<Answer> {
  const bridge = text(context, 'bridge');
  if (bridge === undefined) {
    const client = metadataClient(context, endpointOption(context));
    const rate = new RequestRate({ pollIntervalMs: 1000, elapsedMs: context.deps.elapsedMs });
    return async (eventId) => {
      await place(rate, context);
      return await post(client, eventId, context.signal);
    };
  }
  if (text(context, 'endpoint') !== undefined) throw new BridgeError('BRIDGE_USAGE', 'give either --endpoint or --bridge');
  const url = bridgeUrl(context, bridge, '/v1/approvals');
  const headers = authorization(context);
  return (eventId) => approveThrough(context, url, headers, eventId);
}

/** It takes 5 requests a second of this VM, and a bridge on it polls. */
async function place(rate: RequestRate, { deps, signal }: VerbContext): Promise<void> {
  for (let room = rate.room(0); room.posts === 0; room = rate.room(0)) await sleep(deps, room.inMs, signal);
  rate.left('POST');
}

async function post(client: ReturnType<typeof metadataClient>, eventId: string, signal: AbortSignal): Promise<Answer> {
  const result = await client.post([eventId], signal);
  if (result.kind === 'accepted') return { status: 200, words: null };
  const status = result.kind === 'refused' ? result.status : result.error instanceof BridgeError ? result.error.status : undefined;
  return { status: typeof status === 'number' ? status : null, words: result.error.message };
}

async function approveThrough(context: VerbContext, url: URL, headers: Readonly<Record<string, string>>, eventId: string): Promise<Answer> {
  const limit = deadline(
    context.deps,
    BRIDGE_TIMEOUT_MS,
    () => new Error(`no answer within ${BRIDGE_TIMEOUT_MS / 1000} s`),
    context.signal,
  );
  try {
    const body = { StartRequests: [{ EventId: eventId }] };
    const answer = await postJson(url, headers, body, limit.signal);
    const {
      results,
      title,
      detail = title,
    } = JSON.parse(answer.body) as { results?: { state?: string }[]; title?: string; detail?: string };
    return { status: answer.status, words: detail ?? results?.[0]?.state ?? null };
  } catch (error) {
    context.signal.throwIfAborted();
    return { status: null, words: `${url.origin} did not answer as a bridge does: ${messageOf(error)}` };
  } finally {
    limit.cancel();
  }
}

/** Asks on standard error and reads a line for each; the end of the input, or an interrupt, is a no to all that is left. */
function asker({ stdin, stderr, signal }: VerbContext): (eventId: string) => Promise<boolean> {
  // One reader for all questions: lines that are piped come together.
  const answers = createInterface({ input: stdin, signal })[Symbol.asyncIterator]();
  return async (eventId) => {
    stderr.write(`Start ${visibleLine(eventId)} now, for every VM in its Resources? [y/N] `);
    const answer = await answers.next();
    return !answer.done && /^y(es)?$/i.test(answer.value.trim());
  };
}
