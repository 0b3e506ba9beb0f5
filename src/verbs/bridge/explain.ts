// `explain`: an EventId → its story at a running bridge, what it waits for, and what happens next.
import type { JsonObject } from '../../formats/json-object.ts';
import { logRecord } from '../../log-record/log-record.ts';
import { changeInType } from '../../log-record/message.ts';
import type { ApprovalStep } from '../../model/approvals.ts';
import { isDrill } from '../../model/ids.ts';
import { type NextStepEvent, nextStepLine } from '../../model/next-step.ts';
import { type DescribedEvent, eventDescription } from '../event-description.ts';
import { EXIT, oneWord, type Verb, type VerbContext } from '../verb.ts';
import { ACT_OPTIONS, read, show } from './act.ts';

/** Pages of steps or CloudEvents that are read at most: far more than one event has. */
const MOST_PAGES = 100;

export const explainVerb: Verb = {
  usage: 'EVENT_ID [--bridge URL [--token-env NAME] | --config FILE]',
  takesWords: true,
  description: `Shows an event as a running bridge knows it: what it is, what it waits for and what happens if nobody acts, then its story, oldest first:
each change with its deliveries, each approval, hold and decision, and what the metadata service answered. It works for an event that has ended, too.
With --config it uses the bridge on this machine. The default is http://127.0.0.1:8700. A token is needed if the bridge shows events to readers alone.
Prints one JSON object if standard output is not a terminal. Exits with 1 if the bridge does not know the event or does not answer.`,
  options: ACT_OPTIONS,
  examples: [
    [
      'scheduled-events-bridge explain C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      'why an event has not been approved at the bridge on this machine',
    ],
  ],
  async run(context) {
    const id = encodeURIComponent(oneWord(context, 'EventId'));
    const record = await read(context, `/v1/approvals/${id}?limit=200`);
    const listed = record && (await read(context, '/v1/events'));
    const more = listed && (await pages(context, `/v1/approvals/${id}?limit=200`, record));
    const journal = more && (await pages(context, `/v1/journal?event=${id}&limit=100`, null));
    if (!record || !listed || !more || !journal) return EXIT.failed;
    const { next: _, ...rest }: JsonObject = {
      ...record,
      steps: more.flatMap(({ steps }) => steps as readonly Step[]),
    };
    const { eventId } = record as { readonly eventId: string };
    const listing = listed as unknown as Listing;
    const event = listing.events.find((one) => one.eventId === eventId) ?? null;
    const items = journal.flatMap((page) => page['items'] as readonly JournalItem[]);
    await show(
      context,
      { ...rest, event, journal: items },
      linesOf(rest as unknown as EventRecord, listing, event, items),
    );
    return EXIT.fine;
  },
};

/** Follows `next` to the end. Returns null after a warning. @param first the first page, if it was read already */
async function pages(
  context: VerbContext,
  path: string,
  first: JsonObject | null,
): Promise<readonly JsonObject[] | null> {
  const found: JsonObject[] = [];
  let page = first ?? (await read(context, path));
  while (page !== null) {
    found.push(page);
    const { next } = page as { readonly next?: number | null };
    if (next == null || found.length >= MOST_PAGES) return found;
    page = await read(context, `${path}&after=${next}`);
  }
  return null;
}

/** The parts of `GET /v1/approvals/EVENT_ID` that are shown. */
interface EventRecord {
  readonly eventId: string;
  readonly state: string;
  readonly steps: readonly Step[];
}

type Step = Omit<ApprovalStep, 'atMs'> & { readonly at: string };

interface Listing {
  readonly state: string;
  readonly dryRun?: boolean;
  readonly events: readonly (NextStepEvent & DescribedEvent)[];
}

interface JournalItem {
  readonly at: string;
  readonly event: JsonObject;
  readonly deliveries: readonly {
    readonly sink: string;
    readonly state: string;
    readonly attempts: number;
    readonly status: number | string | null;
  }[];
}

function linesOf(
  { eventId, state, steps }: EventRecord,
  { dryRun = false, state: sight }: Listing,
  event: Listing['events'][number] | null,
  items: readonly JournalItem[],
): readonly string[] {
  const story = [
    ...items.filter(isOfEvent).map((item) => ({ at: item.at, text: changeText(item) })),
    ...steps.map((step) => ({ at: step.at, text: stepText(step) })),
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return [
    `${eventId}${isDrill(eventId) ? ' (a drill)' : ''}`,
    ...(event === null
      ? [`has ended; approval: ${state}`]
      : [eventDescription(event), nextStepLine(event, { dryRun, isBlind: sight === 'blind' })]),
    'story',
    ...story.map(({ at, text }) => `  ${at}  ${text}`),
  ];
}

/** False for approvals, whose steps say more. */
function isOfEvent({ event }: JournalItem): boolean {
  return !changeInType(String(event['type']))?.startsWith('approval.');
}

function changeText({ event, deliveries }: JournalItem): string {
  const sent = deliveries.map(({ sink, state, attempts, status }) => {
    const why = state === 'delivered' ? '' : ` after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
    return `${sink}: ${state}${why}${status === null ? '' : ` (${status})`}`;
  });
  const { message } = logRecord(Buffer.from(JSON.stringify(event)));
  return [message, ...(sent.length > 0 ? [sent.join(', ')] : [])].join('; ');
}

/** Such as `recorded by orders (token)` or `answered 503, decided by policy[1]: the service is overloaded`. */
function stepText({ step, approver, via, policy, status, reason, times }: Step): string {
  return [
    step,
    approver === null ? '' : ` by ${approver}`,
    via === null ? '' : ` (${via})`,
    policy === null ? '' : `, rule ${policy}`,
    status === null ? '' : `, status ${status}`,
    reason === null ? '' : `: ${reason}`,
    times === undefined ? '' : ` (${times} times)`,
  ].join('');
}
