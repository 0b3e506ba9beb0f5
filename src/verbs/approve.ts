// `approve`: EventIds → StartRequests, or approvals through a bridge; one line for each.
import { BridgeError, messageOf } from '../errors.ts';
import { visibleLine } from '../formats/visible-text.ts';
import { RequestRate } from '../metadata/request-rate.ts';
import { sleep } from '../time/clock.ts';
import { objectIn, requestOf } from './bridge/act.ts';
import {
  askBridge,
  authorization,
  BRIDGE_OPTIONS,
  type BridgeRequest,
  bridgeOrFile,
  bridgeUrl,
  DEFAULT_BRIDGE,
} from './bridge/bridge-client.ts';
import { standingHolds } from './bridge/standing-holds.ts';
import { confirmations } from './confirmation.ts';
import { type DescribedEvent, eventDescription } from './event-description.ts';
import { ENDPOINT_OPTION, endpointOption, metadataClient } from './metadata-service.ts';
import { EXIT, optionText, usageError, type Verb, type VerbContext } from './verb.ts';

const BRIDGE_TIMEOUT_MS = 30_000;

/** The result for one EventId: an HTTP status, or null without an answer. */
interface Answer {
  readonly status: number | null;
  /** For people: why it was rejected or, through a bridge, that it is waiting; null if there is nothing to add. */
  readonly words: string | null;
}

/** An event as the question names it. */
type Named = DescribedEvent & {
  readonly eventId: string;
  /** The id of its newest CloudEvent; only at a bridge. */
  readonly cloudEventId?: string | null;
};

/** The far side of the approvals: the metadata service, or a bridge. */
interface FarSide {
  /** @param event as the approver saw it, if it was asked */
  readonly send: (eventId: string, event: Named | undefined) => Promise<Answer>;
  /** Rejects if the events cannot be read. */
  readonly events: () => Promise<readonly Named[]>;
}

export const approveVerb: Verb = {
  usage:
    'EVENT_ID... [--endpoint URL [--config FILE] | --bridge URL --token-env NAME] [--interactive | --yes] [--force]',
  takesWords: true,
  description: `An approval starts the event for every VM in its Resources, and cannot be taken back.
On a terminal it names the event and asks; all but y and yes is a no. Prints one line for each EventId that it sent, { eventId, status }.
Exits with 1 if one of them was rejected or not confirmed; standard error has the reason.
Without --bridge it approves at the metadata service. If a bridge runs on this machine and one of the events is held there, nothing is sent without --force.
That bridge is the one of --config, or ${DEFAULT_BRIDGE}. With --bridge it uses the approval endpoint of a bridge. The environment variable holds the approver's token.`,
  options: {
    endpoint: ENDPOINT_OPTION,
    config: {
      type: 'string',
      value: 'FILE',
      help: 'the configuration of the bridge on this machine, to respect its holds',
    },
    ...BRIDGE_OPTIONS,
    interactive: { type: 'boolean', help: 'asks for confirmation before each event, also without a terminal' },
    yes: { type: 'boolean', help: 'does not ask, also on a terminal' },
    force: { type: 'boolean', help: 'without --bridge: approves although a hold stands' },
  },
  examples: [
    ['scheduled-events-bridge approve C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'start an event now'],
    [
      'scheduled-events-bridge approve C7061BAC-AFDC-4513-B24B-AA5F13A16123 --bridge http://127.0.0.1:8700 --token-env MY_TOKEN',
      'approve through a bridge, as one of its approvers',
    ],
  ],
  async run(context) {
    const { positionals: ids, values } = context;
    if (ids.length === 0) throw usageError('approve takes at least one EventId; `events` prints them');
    if (values['interactive'] && values['yes'])
      throw usageError('--interactive and --yes exclude each other: give one of them');
    const { bridge } = bridgeOrFile(context);
    if (bridge === undefined) expectReal(ids);
    const farSide = bridge === undefined ? metadataService(context) : throughBridge(context, bridge);
    // A bridge itself keeps back what is held.
    const areFree = async (some: readonly string[]) =>
      bridge !== undefined || values['force'] === true || refuseHeld(context, await standingHolds(context, some));
    if (!(await areFree(ids))) return EXIT.failed;
    const isAsked = values['interactive'] === true || (context.stdin.isTTY === true && values['yes'] !== true);
    const confirm = isAsked ? confirmer(context, farSide) : null;
    let isFine = true;
    for (const eventId of ids) {
      const event = await confirm?.(eventId);
      // A hold may have been set while the question stood.
      const isWanted = event !== null && (confirm === null || (await areFree([eventId])));
      isFine = isWanted && (await approved(context, farSide, eventId, event)) && isFine;
    }
    return isFine ? EXIT.fine : EXIT.failed;
  },
};

/** Sends one approval and prints its line. Returns false if it was rejected. */
async function approved(context: VerbContext, { send }: FarSide, eventId: string, event: Named | undefined) {
  const { status, words } = await send(eventId, event);
  await context.print(JSON.stringify({ eventId, status }));
  if (words !== null) context.warn(visibleLine(`${eventId}: ${words}`));
  return status !== null && status < 300;
}

/** Returns true if nothing is held. */
function refuseHeld({ warn }: VerbContext, held: readonly string[]): boolean {
  for (const line of held)
    warn(visibleLine(`${line}: nothing was sent. Wait until the hold is released, or use --force`));
  return held.length === 0;
}

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

function metadataService(context: VerbContext): FarSide {
  const client = metadataClient(context, endpointOption(context));
  const rate = new RequestRate({ pollIntervalMs: 1000, elapsedMs: context.deps.elapsedMs });
  return {
    send: async (eventId) => {
      await waitForRoom(rate, context);
      return await post(client, eventId, context.signal);
    },
    events: async () => {
      rate.sent('GET');
      const result = await client.poll(context.signal);
      if (result.kind === 'failure') throw result.error;
      return result.document.events;
    },
  };
}

function throughBridge(context: VerbContext, bridge: string): FarSide {
  if (optionText(context, 'endpoint') !== undefined)
    throw usageError('--endpoint and --bridge exclude each other: give one of them');
  const base = { method: 'GET', url: bridgeUrl(context, bridge, '/'), headers: authorization(context) } as const;
  return {
    send: (eventId, event) => approveThrough(context, base, eventId, event),
    events: async () => {
      const { status, body } = await askBridge(requestOf(base, 'GET', '/v1/events'), context, BRIDGE_TIMEOUT_MS);
      const { events } = objectIn(body) ?? {};
      if (status !== 200 || !Array.isArray(events)) throw new Error(`the bridge answered ${status}`);
      return events as readonly Named[];
    },
  };
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
  base: BridgeRequest,
  eventId: string,
  event: Named | undefined,
): Promise<Answer> {
  // The bridge refuses if the event has become worse since the question.
  const seen = event?.cloudEventId == null ? {} : { Seen: event.cloudEventId };
  const request = requestOf(base, 'POST', '/v1/approvals', { StartRequests: [{ EventId: eventId, ...seen }] });
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
    return { status: null, words: `${new URL(base.url).origin} gave no answer of a bridge: ${messageOf(error)}` };
  }
}

/**
 * Returns a function that names an event and asks.
 * @returns null for a no; undefined for a yes to an event that could not be named
 */
function confirmer(context: VerbContext, { events }: FarSide): (eventId: string) => Promise<Named | undefined | null> {
  const ask = confirmations(context);
  return async (eventId) => {
    const event = await named(context, events, eventId);
    if (await ask(`Start ${visibleLine(eventId)} now, for every VM in its Resources? [y/N] `)) return event;
    context.warn(visibleLine(`${eventId}: not approved, because the answer was not y or yes`));
    return null;
  };
}

/** Describes the event on standard error, as it is listed now. */
async function named(context: VerbContext, events: FarSide['events'], eventId: string): Promise<Named | undefined> {
  try {
    const event = (await events()).find((listed) => listed.eventId.toLowerCase() === eventId.toLowerCase());
    context.warn(visibleLine(event === undefined ? `${eventId} is not listed now` : eventDescription(event)));
    return event;
  } catch (error) {
    if (!context.signal.aborted) context.warn(visibleLine(`what ${eventId} is could not be read: ${messageOf(error)}`));
    return undefined;
  }
}
