// `approve`: EventIds → StartRequests, or approvals through a bridge; one line for each.
import { createInterface } from 'node:readline';
import { BridgeError, messageOf } from '../errors.ts';
import { visibleLine } from '../formats/visible-text.ts';
import { RequestRate } from '../metadata/request-rate.ts';
import { sleep } from '../time/clock.ts';
import { askBridge, authorization, BRIDGE_OPTIONS, bridgeUrl } from './bridge/bridge-client.ts';
import { ENDPOINT_OPTION, endpointOption, metadataClient } from './metadata-service.ts';
import { EXIT, optionText, usageError, type Verb, type VerbContext } from './verb.ts';

const BRIDGE_TIMEOUT_MS = 30_000;

/** The result for one EventId: an HTTP status, or null without an answer. */
interface Answer {
  readonly status: number | null;
  /** For people: why it was rejected or, through a bridge, that it is waiting; null if there is nothing to add. */
  readonly words: string | null;
}

export const approveVerb: Verb = {
  usage: 'EVENT_ID... [--endpoint URL | --bridge URL --token-env NAME] [--interactive]',
  takesWords: true,
  description: `An approval starts the event for every VM in its Resources, and cannot be taken back.
Prints one line for each EventId, { eventId, status }. Exits with 1 if one of them was rejected; standard error has the reason.
With --bridge it uses the approval endpoint of a bridge. The environment variable holds the approver's token.`,
  options: {
    endpoint: ENDPOINT_OPTION,
    ...BRIDGE_OPTIONS,
    interactive: { type: 'boolean', help: 'asks for confirmation before each event' },
  },
  examples: [
    ['scheduled-events-bridge approve C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'start an event now'],
    [
      'scheduled-events-bridge approve C7061BAC-AFDC-4513-B24B-AA5F13A16123 --bridge http://127.0.0.1:8700 --token-env MY_TOKEN',
      'approve through a bridge, as one of its approvers',
    ],
  ],
  async run(context) {
    const ids = context.positionals;
    if (ids.length === 0) throw usageError('approve takes at least one EventId; `events` prints them');
    if (optionText(context, 'bridge') === undefined) expectReal(ids);
    const send = sender(context);
    const isConfirmed = context.values['interactive'] ? confirmer(context) : () => true;
    let rejected = false;
    for (const eventId of ids) {
      if (!(await isConfirmed(eventId))) continue;
      const { status, words } = await send(eventId);
      rejected ||= status === null || status >= 300;
      await context.print(JSON.stringify({ eventId, status }));
      if (words !== null) context.warn(visibleLine(`${eventId}: ${words}`));
    }
    return rejected ? EXIT.failed : EXIT.fine;
  },
};

/**
 * The metadata service does not know drills: they exist only in their bridge.
 * @throws BridgeError BRIDGE_USAGE for a drill
 */
function expectReal(ids: readonly string[]): void {
  const drill = ids.find((id) => /^\s*drill-/i.test(id));
  if (drill === undefined) return;
  throw usageError(
    `${visibleLine(drill)} is a drill, which exists only in its bridge: approve it with --bridge. Nothing was sent`,
  );
}

function sender(context: VerbContext): (eventId: string) => Promise<Answer> {
  const bridge = optionText(context, 'bridge');
  if (bridge === undefined) {
    const client = metadataClient(context, endpointOption(context));
    const rate = new RequestRate({ pollIntervalMs: 1000, elapsedMs: context.deps.elapsedMs });
    return async (eventId) => {
      await waitForRoom(rate, context);
      return await post(client, eventId, context.signal);
    };
  }
  if (optionText(context, 'endpoint') !== undefined)
    throw usageError('--endpoint and --bridge exclude each other: give one of them');
  const url = bridgeUrl(context, bridge, '/v1/approvals');
  const headers = { ...authorization(context), 'Content-Type': 'application/json' };
  return (eventId) => approveThrough(context, url, headers, eventId);
}

/** The metadata service accepts 5 requests a second from this VM, and a bridge on the VM polls as well. */
async function waitForRoom(rate: RequestRate, { deps, signal }: VerbContext): Promise<void> {
  for (let room = rate.room(0); room.posts === 0; room = rate.room(0)) await sleep(deps, room.inMs, signal);
  rate.sent('POST');
}

async function post(client: ReturnType<typeof metadataClient>, eventId: string, signal: AbortSignal): Promise<Answer> {
  const result = await client.post([eventId], signal);
  if (result.kind === 'accepted') return { status: 200, words: null };
  const status =
    result.kind === 'refused' ? result.status : result.error instanceof BridgeError ? result.error.status : undefined;
  return { status: typeof status === 'number' ? status : null, words: result.error.message };
}

async function approveThrough(
  context: VerbContext,
  url: URL,
  headers: Readonly<Record<string, string>>,
  eventId: string,
): Promise<Answer> {
  const request = {
    method: 'POST',
    url,
    headers,
    body: JSON.stringify({ StartRequests: [{ EventId: eventId }] }),
  } as const;
  try {
    const { status, body } = await askBridge(request, context, BRIDGE_TIMEOUT_MS);
    const { results, title, detail } = JSON.parse(body) as {
      results?: { state?: string }[];
      title?: string;
      detail?: string;
    };
    return { status, words: detail ?? title ?? results?.[0]?.state ?? null };
  } catch (error) {
    context.signal.throwIfAborted();
    return { status: null, words: `${url.origin} gave no answer of a bridge: ${messageOf(error)}` };
  }
}

/**
 * Asks on standard error and reads one line for each question. The end of the input, or an interrupt, counts as a no to
 * all remaining questions.
 */
function confirmer({ stdin, stderr, signal }: VerbContext): (eventId: string) => Promise<boolean> {
  // One reader for all questions, because piped lines arrive together.
  const answers = createInterface({ input: stdin, signal })[Symbol.asyncIterator]();
  return async (eventId) => {
    stderr.write(`Start ${visibleLine(eventId)} now, for every VM in its Resources? [y/N] `);
    const answer = await answers.next();
    return !answer.done && /^y(es)?$/i.test(answer.value.trim());
  };
}
