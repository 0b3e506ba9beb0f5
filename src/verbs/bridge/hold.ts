// `hold` and `release`: an EventId → a hold of the caller at a running bridge, or its end.
import { EXIT, needed, oneWord, optionText, type Verb } from '../verb.ts';
import { ACT_OPTIONS, ACT_USAGE, ACT_WORDS, act, show } from './act.ts';
import { holdAll, isForAll, releaseAll } from './hold-all.ts';

/** The answer of `POST /v1/holds`. */
interface Holds {
  readonly eventId: string;
  readonly holds: readonly { readonly approver: string; readonly reason: string | null }[];
}

export const holdVerb: Verb = {
  usage: `EVENT_ID | --all --reason TEXT ${ACT_USAGE}`,
  takesWords: true,
  description: `Holds an event as an approver: the bridge submits nothing for it until the hold is released. A second hold replaces the reason.
A hold does not stop Azure, which starts the event at its NotBefore.
With --all it holds everything, as an admin: every event, known or to come, and drills, until \`release --all\`, also over restarts.
${ACT_WORDS}`,
  options: {
    reason: { type: 'string', value: 'TEXT', help: 'for people: it is shown with the hold' },
    all: { type: 'boolean', help: 'holds everything, in place of one event; for admins' },
    ...ACT_OPTIONS,
  },
  examples: [
    [
      'scheduled-events-bridge hold C7061BAC-AFDC-4513-B24B-AA5F13A16123 --reason "closing of the month" --token-env MY_TOKEN',
      'hold an event at the bridge on this machine',
    ],
    [
      'scheduled-events-bridge hold --all --reason "a release is under way" --config /etc/scheduled-events-bridge/bridge.yaml',
      'hold everything at the bridge on this machine',
    ],
  ],
  async run(context) {
    if (isForAll(context)) return await holdAll(context);
    const eventId = oneWord(context, 'EventId');
    const reason = needed(context, 'reason');
    const answer = (await act(context, 'POST', '/v1/holds', { EventId: eventId, reason })) as Holds | null;
    if (answer === null) return EXIT.failed;
    const holders = answer.holds.map((hold) => `${hold.approver}${hold.reason === null ? '' : ` (${hold.reason})`}`);
    await show(context, answer, [
      `${answer.eventId} is held by ${holders.join(', ')}`,
      'A hold does not stop Azure, which starts the event at its NotBefore.',
    ]);
    return EXIT.fine;
  },
};

export const releaseVerb: Verb = {
  usage: `EVENT_ID [--approver NAME] | --all ${ACT_USAGE}`,
  takesWords: true,
  description: `Releases your own hold of an event. If you have none and are an admin, it releases all holds of the event.
When the last hold is released, the bridge submits what has been decided by then.
With --all it releases the hold of everything, as an admin; the holds of single events stay.
${ACT_WORDS}`,
  options: {
    approver: { type: 'string', value: 'NAME', help: 'as an admin: releases the hold of this approver' },
    all: { type: 'boolean', help: 'releases the hold of everything; for admins' },
    ...ACT_OPTIONS,
  },
  examples: [
    [
      'scheduled-events-bridge release C7061BAC-AFDC-4513-B24B-AA5F13A16123 --token-env MY_TOKEN',
      'release your hold at the bridge on this machine',
    ],
    [
      'scheduled-events-bridge release --all --config /etc/scheduled-events-bridge/bridge.yaml',
      'end the hold of everything at the bridge on this machine',
    ],
  ],
  async run(context) {
    if (isForAll(context)) return await releaseAll(context);
    const eventId = oneWord(context, 'EventId');
    const approver = optionText(context, 'approver');
    const query = approver === undefined ? '' : `?approver=${encodeURIComponent(approver)}`;
    const answer = await act(context, 'DELETE', `/v1/holds/${encodeURIComponent(eventId)}${query}`);
    if (answer === null) return EXIT.failed;
    await show(context, { eventId, released: true }, [`${eventId} is released`]);
    return EXIT.fine;
  },
};
