// The keys `windows` and `budgets`, and those of a rule that names them → schemas and types.
import * as v from 'valibot';
import { globs } from '../../conditions/options.ts';
import { hasZoneData, isZoneName, zoneNames } from '../../formats/zoned-time.ts';
import { didYouMean, nearest } from '../../schema/faults.ts';
import { durationBetween, type MappingFault, name, withoutFault } from '../../schema/pieces.ts';
import type { WindowOptions } from './windows.ts';

/** The maximum number of dates on which a window does not open. */
const MOST_DATES = 1000;

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const END = /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** In the order of a week. */
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const satisfies WindowOptions['days'];

const days = v.pipe(
  v.array(v.picklist(DAYS, ({ input }) => `must be one of ${DAYS.join(', ')}${didYouMean(nearDay(input))}`)),
  v.minLength(1, 'must not be empty: the window would never open'),
  v.description('The days on which the window opens, by the calendar of its zone.'),
);

const from = v.pipe(
  v.optional(time(TIME, 'must be a time from "00:00" to "23:59", with two digits for the hour'), '00:00'),
  v.description('When it opens, by the wall clock of its zone.'),
);

const to = v.pipe(
  v.optional(time(END, 'must be a time from "00:00" to "24:00", with two digits for the hour'), '24:00'),
  v.description('When it closes; a time before "from" is on the next day.'),
);

const NO_DATE = 'must be a date such as "2026-12-26"';

const except = v.pipe(
  v.optional(
    v.pipe(
      v.array(v.pipe(v.string(NO_DATE), v.regex(DATE, NO_DATE), withoutFault(calendarFault))),
      v.maxLength(MOST_DATES, `must not have more than ${MOST_DATES} dates`),
    ),
    [],
  ),
  v.description('Dates on which it does not open. A window of the evening before goes on.'),
);

const timeZone = v.pipe(
  v.optional(v.pipe(v.string(), withoutFault(zoneFault)), 'UTC'),
  v.description('The IANA name of its time zone.'),
);

/** Times during which rules may approve, by name. */
export const windows = v.pipe(
  v.record(
    name(),
    v.pipe(
      v.strictObject({ days, from, to, except, timeZone }),
      v.forward(
        v.check(
          (window) => window.from !== window.to || !TIME.test(window.from),
          'must differ from "from": the window would be empty',
        ),
        ['to'],
      ),
    ),
  ),
  v.description('Times during which rules with "during" approve, by name.'),
);

/** How many machines may be in maintenance at a time by the approvals of this bridge, by name. */
export const budgets = v.pipe(
  v.record(
    name(),
    v.pipe(
      v.strictObject({
        resources: globs(
          'Globs for names in Resources, without case. Other names are not counted.',
          'must not be empty: the budget would count no name; "*" counts every name',
        ),
        atMost: v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1, 'must be at least 1: to approve nothing, write a rule with then: never'),
          v.description('The maximum number of these names that may be in use at a time.'),
        ),
        rest: v.optional(
          durationBetween('0s', '30d', 'How long the names of an event stay in use after its end.'),
          '0s',
        ),
      }),
      v.transform(({ rest, ...budget }) => ({ ...budget, restMs: rest })),
    ),
  ),
  v.description('How many machines a rule with "budgets" approves at a time, by name.'),
);

/** The keys of a rule that name windows and budgets. */
export const termEntries = {
  during: v.exactOptional(
    v.pipe(
      names('windows'),
      v.description(
        'Only for a rule that approves: names in approvals.windows. It approves while one of them is open.',
      ),
    ),
  ),
  otherwise: v.exactOptional(
    v.pipe(
      v.literal('wait', 'must be wait, or leave it out: then Azure starts the event at NotBefore'),
      v.description(
        'Only with during: wait for approvers if no window opens before NotBefore. Default: left to Azure.',
      ),
    ),
  ),
  budgets: v.exactOptional(
    v.pipe(
      names('budgets'),
      v.description('Names in approvals.budgets. The rule approves only what fits all of them.'),
    ),
  ),
};

/** The keys of a rule that only fit some rules. */
interface Terms {
  readonly then: 'approve' | 'wait' | 'never';
  readonly during?: readonly string[];
  readonly otherwise?: 'wait';
  readonly budgets?: readonly string[];
  readonly required?: unknown;
  readonly deadline?: { readonly then: 'approve' | 'leave' };
}

/** Returns a fault for each key of a rule that has no effect at it. */
export function termFaults(rule: Terms): MappingFault[] {
  const { then, during, otherwise, budgets: named, deadline } = rule;
  const faults: MappingFault[] = [];
  if (during !== undefined && then !== 'approve')
    faults.push({ key: 'during', message: 'is only for a rule that approves: with then: approve' });
  if (otherwise !== undefined && during === undefined)
    faults.push({
      key: 'otherwise',
      message: 'is only for a rule with during: it says what happens if no window opens',
    });
  const waits = then === 'wait' || (then === 'approve' && during !== undefined && otherwise !== undefined);
  const only = during === undefined ? 'with then: wait' : 'add otherwise: wait, or remove it';
  for (const key of ['required', 'deadline'] as const)
    if (rule[key] !== undefined && !waits) faults.push({ key, message: `is only for a rule that waits: ${only}` });
  const fault = named === undefined ? null : budgetFault(then, deadline?.then);
  return fault === null ? faults : [...faults, { key: 'budgets', message: fault }];
}

function budgetFault(then: Terms['then'], atDeadline: 'approve' | 'leave' | undefined): string | null {
  const only = 'is only for a rule that approves by itself';
  if (then === 'never') return `${only}: with then: approve`;
  return then === 'approve' || atDeadline === 'approve'
    ? null
    : `${only}: a rule that waits needs deadline: { before: …, then: approve }`;
}

function names(section: 'windows' | 'budgets') {
  return v.pipe(
    v.array(v.string()),
    v.minLength(1, `must not be empty: name one of approvals.${section}, or leave the key out`),
    v.check((given) => new Set(given).size === given.length, 'names one twice'),
  );
}

function time(form: RegExp, message: string) {
  return v.pipe(v.string(message), v.regex(form, message));
}

/** `Monday`, `mon` and `Montag` mean `Mon`. */
function nearDay(day: unknown): string | undefined {
  if (typeof day !== 'string') return undefined;
  return DAYS.find((known) => day.toLowerCase().startsWith(known.toLowerCase())) ?? nearest(day, DAYS);
}

/** 30 February has the form of a date, and no calendar has it. */
function calendarFault(text: string): string | null {
  if (!DATE.test(text)) return null;
  const at = new Date(`${text}T00:00:00Z`);
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text ? 'is not in the calendar' : null;
}

/** A Node without the data can judge no name. The configuration then has a fault of its own. */
function zoneFault(name: string): string | null {
  if (isZoneName(name) || !hasZoneData()) return null;
  const known = zoneNames();
  const city = known.find((zone) => zone.toLowerCase().endsWith(`/${name.toLowerCase()}`));
  const message = 'must be the IANA name of a time zone, such as Europe/Berlin; not an offset or an abbreviation';
  return `${message}${didYouMean(city ?? nearest(name, known))}`;
}
