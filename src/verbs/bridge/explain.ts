// `explain`: an EventId → its story at a running bridge, what it waits for, and what happens next.
import { isZoneName, zoneOf } from '../../formats/zoned-time.ts';
import { isDrill } from '../../model/ids.ts';
import { type BudgetUse, type GoverningWindow, type NextStepEvent, nextStepLine } from '../../model/next-step.ts';
import { type DescribedEvent, eventDescription } from '../event-description.ts';
import { EXIT, oneWord, type Verb } from '../verb.ts';
import { ACT_OPTIONS, read, show } from './act.ts';
import { type EventStory, readStory, storyLines } from './event-story.ts';

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
    const id = oneWord(context, 'EventId');
    const story = await readStory((path) => read(context, path), id);
    const listed = story && (await read(context, '/v1/events'));
    if (!story || !listed) return EXIT.failed;
    const { record, items } = story;
    const listing = listed as unknown as Listing;
    const event = listing.events.find(({ eventId }) => eventId === record['eventId']) ?? null;
    const value = { ...record, event, journal: items };
    await show(context, value, linesOf(story, listing, event, context.deps.wallMs()));
    return EXIT.fine;
  },
};

interface Listing {
  readonly state: string;
  readonly dryRun?: boolean;
  readonly events: readonly (NextStepEvent & DescribedEvent)[];
}

function linesOf(
  story: EventStory,
  { dryRun = false, state: sight }: Listing,
  event: Listing['events'][number] | null,
  wallMs: number,
): readonly string[] {
  const { eventId, state } = story.record as { readonly eventId: string; readonly state: string };
  return [
    `${eventId}${isDrill(eventId) ? ' (a drill)' : ''}`,
    ...(event === null
      ? [`has ended; approval: ${state}`]
      : [
          eventDescription(event),
          nextStepLine(event, { dryRun, isBlind: sight === 'blind' }),
          ...windowLines(event),
          ...budgetLines(story.record),
        ]),
    'story',
    ...storyLines(story, wallMs),
  ];
}

/** When the window opens and closes that the event waits for, and the windows and budgets of the rule. */
function windowLines({ rule, nextStep }: NextStepEvent): readonly string[] {
  const { policy = null, window = null, during = [], budgets = [] } = rule ?? {};
  const isAhead = window !== null && nextStep.action === 'approve' && nextStep.at !== null;
  return [
    ...(isAhead
      ? [
          `window ${window.name}: opens at ${momentOf(window.opensAt, window)}, closes at ${momentOf(window.closesAt, window)}`,
        ]
      : []),
    ...(during.length > 0 ? [`${policy} approves during: ${during.join(', ')}`] : []),
    ...(budgets.length > 0 ? [`${policy} approves what fits: ${budgets.join(', ')}`] : []),
  ];
}

/** Such as `2026-11-24T21:00:00Z (22:00 in Europe/Berlin)`. */
function momentOf(rfc3339: string, { timeZone = 'UTC' }: GoverningWindow): string {
  if (timeZone === 'UTC' || !isZoneName(timeZone)) return rfc3339;
  const local = new Date(zoneOf(timeZone).localMs(Date.parse(rfc3339))).toISOString();
  return `${rfc3339} (${local.slice(11, 16)} in ${timeZone})`;
}

/** What is in use of the budgets that hold the event back. A bridge before 0.3.0 does not say it. */
function budgetLines({ budgetUse = [] }: { readonly budgetUse?: unknown }): readonly string[] {
  return (budgetUse as readonly BudgetUse[]).map(({ name, atMost, used, machines }) => {
    const shown = machines.map((machine) => `${machine.name} (${machine.eventId ?? `until ${machine.until}`})`);
    const more = used > machines.length ? [`${used - machines.length} more`] : [];
    return `budget ${name}: ${used} in use, at most ${atMost}: ${[...shown, ...more].join(', ')}`;
  });
}
