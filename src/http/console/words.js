// Events, steps of their record, deliveries → the words that the console says.
import { clockTime, impact, timeAndDistance, titleOf } from './parts/text.js';

/** What Azure does, in words for whoever confirms it. */
const DOES = {
  freeze: 'pauses',
  reboot: 'reboots',
  redeploy: 'moves to other hardware, where the temporary disk is lost,',
  preempt: 'deletes, as Spot capacity is wanted,',
  terminate: 'deletes',
};

export const nameOf = ({ eventType, resources, drill }) => `${drill ? 'Drill: ' : ''}${titleOf(eventType, resources)}`;

export const machines = (count) => (count === 1 ? '1 machine' : `${count} machines`);

/** What comes next. */
export function course({ eventStatus, notBefore, durationInSeconds }, nowMs) {
  if (eventStatus === 'Started') return `Started; ${impact(durationInSeconds)}`;
  if (notBefore === null) return 'No NotBefore; it may start at any time';
  const ms = Date.parse(notBefore) - nowMs;
  return ms < 0
    ? `NotBefore ${timeAndDistance(notBefore, nowMs)}: it may start at any moment`
    : `NotBefore ${timeAndDistance(notBefore, nowMs)}`;
}

/** What became of its approvals, and who is still to agree. */
export function agreement({ eventStatus, approval }) {
  if (approval === null) return eventStatus === 'Scheduled' ? 'Nobody has approved it.' : '';
  const { state, approvedBy, waitingFor, policy } = approval;
  const who = approvedBy.length > 0 ? ` by ${approvedBy.join(', ')}` : policy ? ` by ${policy}` : '';
  const lacks = waitingFor.length > 0 ? ` Waits for: ${waitingFor.join(', ')}.` : '';
  const words = {
    waiting: approvedBy.length > 0 ? `Approved${who}.` : 'Nobody has approved it.',
    held: `Held${approvedBy.length > 0 ? `; approved${who}` : ''}.`,
    submitting: `Approved${who}; being told to Azure.`,
    submitted: `Approved${who}; Azure has accepted it.`,
    confirmed: `Approved${who}; it started so.`,
    moot: `Started or gone without the approval${who}.`,
    unknown: `Approved${who}; nobody can know whether it started so.`,
    failed: `Approved${who}, but Azure refused it.`,
    'dry-run': `Approved${who}; a dry run, so Azure is not told.`,
  };
  return (words[state] ?? state) + lacks;
}

export const holdWords = ({ approver, reason }) => `Held by ${approver}${reason ? `: ${reason}` : ''}`;

/** What a yes does, for its confirmation. */
export function effect({ eventType, resources, drill }) {
  if (drill)
    return `A drill: ${machines(resources.length)} named, and nothing happens to any of them. Azure is told nothing.`;
  const does = DOES[eventType.toLowerCase()] ?? `does ${eventType} to`;
  return `It reaches ${machines(resources.length)}: once all have agreed, Azure ${does} ${resources.length === 1 ? 'it' : 'each of them'}, perhaps at once.`;
}

export function listed(names, most = 20) {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown || 'no machine';
}

/** What is no longer as it was, from the content that was shown to the one that is known now. */
export function differences(before, after, nowMs) {
  const time = (when) => (when === null ? 'none' : clockTime(when, nowMs));
  const found = [];
  if (before.eventType !== after.eventType) found.push(`type ${before.eventType}, now ${after.eventType}`);
  if (before.notBefore !== after.notBefore)
    found.push(`NotBefore ${time(before.notBefore)}, now ${time(after.notBefore)}`);
  if (before.durationInSeconds !== after.durationInSeconds)
    found.push(`${impact(before.durationInSeconds)}, now ${impact(after.durationInSeconds)}`);
  const added = after.resources.filter((name) => !before.resources.includes(name));
  const gone = before.resources.filter((name) => !after.resources.includes(name));
  if (added.length > 0) found.push(`machines that were not there: ${listed(added)}`);
  if (gone.length > 0) found.push(`machines that are gone: ${listed(gone)}`);
  return found.join('; ') || 'something else of it';
}

const STEPS = {
  recorded: 'approved',
  held: 'set a hold',
  released: 'released a hold',
  void: 'approval is void, as the event got worse',
  decided: 'decided',
  dropped: 'decision dropped',
  left: 'left to Azure',
  answered: 'Azure answered',
  submitted: 'Azure accepted the approval',
  confirmed: 'it started so',
  failed: 'the approval failed',
  moot: 'started or gone without it',
  unknown: 'nobody can know whether by it',
};

export function stepWords({ step, approver, via, policy, status, reason, times }) {
  const about = [
    via && `by ${via}`,
    policy && `rule ${policy}`,
    status !== null && String(status),
    reason,
    times > 1 && `${times} times`,
  ];
  const details = about.filter(Boolean).join(', ');
  return `${approver ? `${approver}: ` : ''}${STEPS[step] ?? step}${details ? ` (${details})` : ''}`;
}

/** `audit: delivered 14:00:01` */
export function deliveryWords({ sink, state, attempts, at, status }, nowMs) {
  const tries = attempts > 1 || state !== 'delivered' ? `, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` : '';
  return `${sink}: ${state} ${clockTime(at, nowMs)}${tries}${status === null ? '' : `, ${status}`}`;
}

const CHANGES = {
  scheduled: 'Seen: Scheduled',
  updated: 'Changed',
  started: 'Started',
  ended: 'Ended',
  'approval.recorded': 'Told the sinks: an approval was recorded',
  'approval.submitted': 'Told the sinks: Azure accepted the approval',
  'approval.failed': 'Told the sinks: the approval failed',
};

export function changeWords(change, { notBefore, resources, changedFields, outcome, observer }, nowMs) {
  const seen = change === 'scheduled' && observer?.name ? ` by ${observer.name}` : '';
  const about = [
    changedFields?.join(', '),
    outcome,
    change !== 'ended' && notBefore && `NotBefore ${clockTime(notBefore, nowMs)}`,
    change === 'scheduled' && resources && machines(resources.length),
  ];
  const details = about.filter(Boolean).join(', ');
  return `${CHANGES[change] ?? change}${seen}${details ? `: ${details}` : ''}`;
}
