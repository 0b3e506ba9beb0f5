// Events, steps of their record, deliveries → the words that the console says.
import { clockTime, fromNow, impact, span, titleOf } from './parts/text.js';

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

/** `09:21:17 UTC (10:21:17 local)`; in a browser whose zone is UTC without the second time. */
export function bothTimes(when, nowMs) {
  const utc = `${clockTime(when, nowMs)} UTC`;
  const eastMs = new Date(when).getTimezoneOffset() * -60_000;
  return eastMs === 0 ? utc : `${utc} (${clockTime(Date.parse(when) + eastMs, nowMs + eastMs)} local)`;
}

const timeAndDistance = (when, nowMs) => `${bothTimes(when, nowMs)}, ${fromNow(when, nowMs)}`;

/** When it starts, or that it has. */
export function course({ eventStatus, notBefore, durationInSeconds }, nowMs) {
  if (eventStatus === 'Started') return `Started; ${impact(durationInSeconds)}`;
  if (notBefore === null) return 'No NotBefore; it may start at any time';
  const isDue = Date.parse(notBefore) < nowMs;
  return `NotBefore ${timeAndDistance(notBefore, nowMs)}${isDue ? ': it may start at any moment' : ''}`;
}

/** Who has approved, and who has not. The holds have lines of their own. */
export function agreement({ eventStatus, approval, rule, nextStep }) {
  if (approval === null && eventStatus !== 'Scheduled') return '';
  if (rule?.then === 'never') return '';
  const { state = 'waiting', approvedBy = [], policy = null } = approval ?? {};
  const who = approvedBy.length > 0 ? ` by ${approvedBy.join(', ')}` : policy ? ` by ${policy}` : '';
  // Approvers may approve before the window opens, and need not.
  const isOfRule = rule?.then === 'approve' && nextStep?.action === 'approve';
  const waitingFor = isOfRule ? [] : (rule?.waitingFor ?? []);
  const lacks = waitingFor.length > 0 ? ` Waits for: ${waitingFor.join(', ')}.` : '';
  const waits = approvedBy.length > 0 ? `Approved${who}.` : 'Nobody has approved it.';
  const words = {
    waiting: waits,
    held: waits,
    submitting: `Approved${who}; being sent to Azure.`,
    submitted: `Approved${who}; Azure has accepted it.`,
    confirmed: `Approved${who}; it started so.`,
    moot: `Started or gone without the approval${who}.`,
    unknown: `Approved${who}; it is unknown if it started because of that.`,
    failed: `Approved${who}, but Azure rejected it.`,
    'dry-run': `Approved${who}; dry run, so nothing is sent to Azure.`,
  };
  return (words[state] ?? state) + lacks;
}

/** When the rule approves, unless that is decided; null without a window. */
export const awaitedWindow = ({ eventStatus, approval, rule }) =>
  eventStatus === 'Scheduled' && !['submitting', 'submitted'].includes(approval?.state) ? (rule?.window ?? null) : null;

function windowWords(event, nowMs) {
  const window = awaitedWindow(event);
  if (window === null) return '';
  const { name, opensAt, closesAt } = window;
  return Date.parse(opensAt) > nowMs
    ? `Waits for the window ${name} (${clockTime(opensAt, nowMs)} to ${clockTime(closesAt, nowMs)} UTC). `
    : `The window ${name} is open until ${bothTimes(closesAt, nowMs)}. `;
}

const budgetWords = ({ heldBackBy = [] }) =>
  heldBackBy.length > 0 ? `Held back by the budget${heldBackBy.length > 1 ? 's' : ''} ${heldBackBy.join(', ')}. ` : '';

/** The window and the budgets that it waits for. */
export const waitWords = (event, nowMs) => windowWords(event, nowMs) + budgetWords(event);

/** What the bar of an event says beside its type. */
export function delay(event, nowMs) {
  const window = awaitedWindow(event);
  if ((event.approval?.holds ?? []).length > 0) return ', held';
  if (event.heldBackBy?.length > 0) return ', held back';
  return window !== null && Date.parse(window.opensAt) > nowMs ? `, waits for ${window.name}` : '';
}

/** What happens if nobody acts. @param view as `GET /v1/events` shows it */
export function nextWords(event, view, nowMs) {
  const { eventStatus, nextStep, rule, drill } = event;
  if (eventStatus === 'Started') return '';
  if (rule?.then === 'never' && rule.policy === null) return 'A recommendation only: there is nothing to approve.';
  const at = nextStep.at === null ? 'at any time' : `at ${timeAndDistance(nextStep.at, nowMs)}`;
  const never = rule?.then === 'never' ? `Never approved by this bridge (${rule.policy}). ` : '';
  const blind = view.state === 'blind' ? 'This bridge is blind and sends nothing. ' : '';
  const lead = `${blind}${never}${waitWords(event, nowMs)}If nobody acts: `;
  if (nextStep.action === 'approve') {
    const by = nextStep.by === null ? 'sent to Azure' : `approved by ${nextStep.by}`;
    return `${lead}${by} ${nextStep.at === null ? 'as soon as it fits' : at}.`;
  }
  if (drill) return `${lead}the drill starts ${at}.`;
  return nextStep.action === 'start'
    ? `${lead}left to Azure, which starts it ${at}.`
    : `${lead}left to Azure, which may start it at any time.`;
}

/** What a group of like events has in common: all but its times and machines. */
export function alikeWords({ eventType, eventStatus, approval, nextStep, rule, heldBackBy = [], drill, observer }) {
  const held = (approval?.holds ?? []).length > 0 ? 'held' : (approval?.state ?? 'waiting');
  const own = observer?.affected ? 'own' : '';
  const next = [nextStep?.action, nextStep?.by, rule?.then, rule?.window?.name, ...heldBackBy];
  return [own, drill ? 'drill' : '', eventType, eventStatus, held, ...next].join(' ');
}

/** `running for 25 s (attempt 2), last line: …` */
export function runningWords({ since, attempt, last }, nowMs) {
  const tries = attempt > 1 ? ` (attempt ${attempt})` : '';
  return `running for ${span(nowMs - Date.parse(since))}${tries}${last === null ? '' : `, last: ${last}`}`;
}

export const holdWords = ({ approver, reason, all }) =>
  `❚❚ ${all ? 'Everything is held' : 'Held'} by ${approver}${reason ? `: ${reason}` : ''}`;

/** What a yes does, for its confirmation. */
export function effect({ eventType, resources, drill }, dryRun) {
  const named = machines(resources.length);
  if (dryRun) return `Dry run: your approval is recorded, and nothing is sent to Azure. ${named} named.`;
  if (drill)
    return `A drill that names ${named}. Nothing is sent to Azure. Sinks that act, such as programs, act on it too.`;
  const does = DOES[eventType.toLowerCase()] ?? `does ${eventType} to`;
  return `It reaches ${named}: once all have agreed, Azure ${does} ${resources.length === 1 ? 'it' : 'each of them'}, perhaps at once.`;
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
  unknown: 'it is unknown if because of it',
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
export function deliveryWords({ sink, state, attempts, at, status, running }, nowMs) {
  if (running) return `${sink}: ${runningWords(running, nowMs)}`;
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
