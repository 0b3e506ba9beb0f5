// The record and the journal of one event at a bridge → its story, line by line.
import type { JsonObject } from '../../formats/json-object.ts';
import { logRecord } from '../../log-record/log-record.ts';
import { changeInType } from '../../log-record/message.ts';
import type { ApprovalStep } from '../../model/approvals.ts';
import { attemptWords, type RunWords, runWords } from './attempt-words.ts';

/** Pages of steps or CloudEvents that are read at most: far more than one event has. */
const MOST_PAGES = 100;

export type StoryStep = Omit<ApprovalStep, 'atMs'> & { readonly at: string };

/** The steps that were only counted: see `unwritten` of `GET /v1/approvals/EVENT_ID`. */
interface Unwritten {
  readonly approver: string | null;
  readonly steps: number;
  readonly since: string;
}

export interface JournalItem {
  readonly at: string;
  readonly event: JsonObject;
  readonly deliveries: readonly {
    readonly sink: string;
    readonly state: string;
    readonly attempts: number;
    readonly status: number | string | null;
    /** Absent from a bridge of an earlier version. */
    readonly running?: RunWords | null;
  }[];
}

export interface EventStory {
  /** The answer of `GET /v1/approvals/EVENT_ID`, with the steps of all its pages and without `next`. */
  readonly record: JsonObject;
  readonly steps: readonly StoryStep[];
  readonly items: readonly JournalItem[];
}

/** GET as a reader. Returns null if the bridge refuses or does not answer. */
type Get = (path: string) => Promise<JsonObject | null>;

/** Reads all pages of the record and the journal of an event. Returns null once a request has failed. */
export async function readStory(get: Get, eventId: string): Promise<EventStory | null> {
  const id = encodeURIComponent(eventId);
  const [first, ...more] = (await pages(get, `/v1/approvals/${id}?limit=200`)) ?? [];
  const journal = first && (await pages(get, `/v1/journal?event=${id}&limit=100`));
  if (!first || !journal) return null;
  const { next: _, ...rest } = first;
  const steps = [first, ...more].flatMap((page) => page['steps'] as readonly StoryStep[]);
  const items = journal.flatMap((page) => page['items'] as readonly JournalItem[]);
  return { record: { ...rest, steps }, steps, items };
}

/** Follows `next` to the end. Returns null once a request has failed. */
async function pages(get: Get, path: string): Promise<readonly JsonObject[] | null> {
  const found: JsonObject[] = [];
  let page = await get(path);
  while (page !== null) {
    found.push(page);
    const { next } = page as { readonly next?: number | null };
    if (next == null || found.length >= MOST_PAGES) return found;
    page = await get(`${path}&after=${next}`);
  }
  return null;
}

/** Returns each change with its deliveries, each step and what was only counted, oldest first. */
export function storyLines({ record, steps, items }: EventStory, wallMs: number): readonly string[] {
  const unwritten = (record['unwritten'] ?? []) as readonly Unwritten[];
  const story = [
    ...items.filter(isOfEvent).map((item) => ({ at: item.at, lines: changeLines(item, wallMs) })),
    ...steps.map((step) => ({ at: step.at, lines: [stepText(step)] })),
    ...unwritten.map(({ approver, steps: count, since }) => ({
      at: since,
      lines: [`${approver ?? 'the bridge'}: ${count} more ${count === 1 ? 'step' : 'steps'}`],
    })),
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return story.flatMap(({ at, lines: [first, ...rest] }) => [
    `  ${at}  ${first}`,
    ...rest.map((line) => `      ${line}`),
  ]);
}

/** False for approvals, whose steps say more. */
function isOfEvent({ event }: JournalItem): boolean {
  return !changeInType(String(event['type']))?.startsWith('approval.');
}

function changeLines({ event, deliveries }: JournalItem, wallMs: number): readonly string[] {
  const { message } = logRecord(Buffer.from(JSON.stringify(event)));
  return [message, ...deliveries.map((delivery) => `${delivery.sink}: ${deliveryText(delivery, wallMs)}`)];
}

function deliveryText(delivery: JournalItem['deliveries'][number], wallMs: number): string {
  const { state, running } = delivery;
  if (running) return runWords(running, 'last:', wallMs);
  return state === 'delivered' ? state : `${state}, ${attemptWords(delivery)}`;
}

/** Such as `recorded by orders (token)` or `answered 503, decided by policy[1]: the service is overloaded`. */
function stepText({ step, approver, via, policy, status, reason, times }: StoryStep): string {
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
