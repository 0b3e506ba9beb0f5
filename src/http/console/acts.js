// A press of Approve, Hold or Release → its confirmation, and what the bridge says to it.
import { ask, nowMs } from './bridge.js';
import { confirm, draw, field, isAsking, tellInDialog } from './dialogs.js';
import { changeOf } from './lives.js';
import { $, setText } from './parts/dom.js';
import { impact } from './parts/text.js';
import { mayAct, mayRelease } from './sign-in.js';
import { journalOf } from './story.js';
import { course, differences, effect, listed, machines, nameOf } from './words.js';

/** The event whose approval is asked for, by EventId in lower case. */
let asked = null;

let isDryRun = false;

/** @param view as `GET /v1/events` shows it */
export function noteMode(view) {
  isDryRun = view.dryRun;
}

/** @param onDone called after each act, to show what came of it */
export function actOn(name, event, onDone) {
  if (!mayAct('approver')) return;
  if (name === 'approve') return void askToApprove(event, onDone);
  if (name === 'hold') return askToHold(event, onDone);
  askToRelease(event, onDone);
}

/** What is shown is what the newest CloudEvent says, whose id goes along: a yes to anything older is refused. */
async function askToApprove(event, onDone) {
  setText($('error'), '');
  try {
    const seen = await seenOf(event);
    asked = event.eventId.toLowerCase();
    confirm(approval(event, seen, onDone));
  } catch (error) {
    setText($('error'), error.message);
  }
}

/** The CloudEvent that tells how the event is now; null where none is kept. */
async function seenOf({ eventId }) {
  const items = await journalOf(eventId);
  return items.map(({ event }) => event).findLast((each) => ['scheduled', 'updated'].includes(changeOf(each))) ?? null;
}

function approval(event, seen, onDone) {
  const shown = { ...(seen?.data ?? event), drill: event.drill };
  const { durationInSeconds, resources, description } = shown;
  return {
    title: `Approve ${nameOf(shown)}?`,
    words: [
      effect(shown, isDryRun),
      `Machines: ${listed(resources)}.`,
      `${course({ ...shown, eventStatus: 'Scheduled' }, nowMs())}; ${impact(durationInSeconds)}.`,
      ...(description ? [description] : []),
      ...(seen ? [] : ['No CloudEvent of it is kept any more, so a change of it meanwhile is not noticed.']),
    ],
    label: `${isDryRun ? 'Dry run: approve' : 'Approve'} for ${machines(resources.length)}`,
    run: () => approve(event, seen, shown, onDone),
  };
}

async function approve(event, seen, shown, onDone) {
  const request = { EventId: event.eventId, ...(seen ? { Seen: seen.id } : {}) };
  try {
    const { results } = await ask('POST', 'v1/approvals', { StartRequests: [request] });
    onDone(`${nameOf(shown)}: ${resultWords(results[0])}`);
  } catch (error) {
    if (error.type !== 'changed') throw error;
    const newest = await seenOf(event);
    draw(approval(event, newest, onDone));
    const what = newest ? differences(shown, newest.data, nowMs()) : 'something of it';
    throw new Error(
      `Not approved: the event has changed (409). ${what}. Look at it anew, and approve that if it is still right.`,
    );
  }
}

function resultWords({ state, waitingFor = [], heldBy = [] }) {
  if (state === 'waiting') return `your approval is recorded, and waits for ${waitingFor.join(', ')}`;
  if (state === 'held') return `your approval is recorded, held by ${heldBy.join(', ')}`;
  if (state === 'submitted') return 'approved, and Azure has accepted it';
  if (state === 'submitting') return 'approved, being sent to Azure';
  if (state === 'moot') return 'it started or went away without your approval';
  return state === 'started' ? 'it has started' : `approved, ${state}`;
}

/** While its confirmation is open, a change of the event is told at once. */
export function noticeChange(change, event) {
  if (!isAsking() || !['updated', 'started', 'ended'].includes(change)) return;
  if (event.data.eventId.toLowerCase() !== asked) return;
  tellInDialog(`The event has ${change === 'updated' ? 'changed' : change} since this was opened.`);
}

function askToHold(event, onDone) {
  asked = null;
  const reason = field('Reason', { maxLength: 200, name: 'reason' });
  confirm({
    title: `Hold ${nameOf(event)}?`,
    words: [
      `While your hold stands, nothing is sent to Azure for ${machines(event.resources.length)}: ${listed(event.resources)}.`,
      'NotBefore stays: then Azure starts it all the same.',
    ],
    fields: [reason],
    label: 'Confirm hold',
    run: async () => {
      const said = reason.lastElementChild.value.trim();
      await ask('POST', 'v1/holds', { EventId: event.eventId, ...(said ? { reason: said } : {}) }).catch(notHeld);
      onDone(`${nameOf(event)}: held`);
    },
  });
}

const TOO_LATE = {
  submitting: 'Azure is being asked to start it, and its answer is not there. Try again in a moment',
  submitted: 'Azure has accepted its approval, which cannot be taken back',
};

function notHeld(error) {
  const why = TOO_LATE[error.type];
  throw why === undefined ? error : new Error(`Not held: ${why} (409).`);
}

function askToRelease(event, onDone) {
  asked = null;
  const holds = (event.approval?.holds ?? []).filter(({ all }) => !all);
  const choice = holds.map(({ approver }) => approver).filter(mayRelease);
  const select = document.createElement('select');
  for (const name of choice) select.append(new Option(name, name));
  const label = document.createElement('label');
  label.append('Hold of ', select);
  confirm({
    title: `Release ${nameOf(event)}?`,
    words: [
      `With the last hold gone, what is decided is sent to Azure at once, for ${machines(event.resources.length)}: ${listed(event.resources)}.`,
    ],
    fields: [label],
    label: 'Confirm release',
    run: async () => {
      await ask('DELETE', `v1/holds/${encodeURIComponent(event.eventId)}?approver=${encodeURIComponent(select.value)}`);
      onDone(`${nameOf(event)}: hold of ${select.value} released`);
    },
  });
}
