// Times and events of the simulator's state → the words that the page says.

export const SIGNS = { Scheduled: '○', Started: '●', completed: '✓', canceled: '✕', withdrawn: '–' };

/** `Reboot of sim_0, sim_1` */
export function titleOf({ EventType, Resources }) {
  const named = Resources.slice(0, 3).join(', ') || 'no machine';
  return `${EventType} of ${named}${Resources.length > 3 ? ` and ${Resources.length - 3} more` : ''}`;
}

/** Scheduled or Started, or how it ended. */
export const stateOf = (event) => event.end ?? event.EventStatus;

/** `14:15:00`, with its date where that is not the day of `nowMs`. */
export function clockTime(when, nowMs) {
  const text = new Date(when).toISOString();
  const day = text.slice(0, 10);
  return new Date(nowMs).toISOString().startsWith(day) ? text.slice(11, 19) : `${day} ${text.slice(11, 19)}`;
}

/** The two largest units: `1 d 3 h`, `14 min 5 s`. */
export function span(ms) {
  const seconds = Math.round(Math.abs(ms) / 1000);
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ];
  const first = units.findIndex(([, count]) => count > 0);
  if (first < 0) return '0 s';
  return units
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${unit}`)
    .join(' ');
}

export function fromNow(when, nowMs) {
  const ms = Date.parse(when) - nowMs;
  return ms < 0 ? `${span(ms)} ago` : `in ${span(ms)}`;
}

/** What comes next for an event, or what has come. */
export function course(event, nowMs) {
  const at = (when) => `${clockTime(when, nowMs)}, ${fromNow(when, nowMs)}`;
  if (event.endedAt) return `${event.end} ${at(event.endedAt)}`;
  if (event.EventStatus === 'Started') return event.goneAt ? `Ends ${at(event.goneAt)}` : 'Ends when it is told to';
  const notBefore = event.notBeforeAt ? `NotBefore ${at(event.notBeforeAt)}` : 'No NotBefore';
  if (event.approvedAt)
    return `Approved; ${event.startsAt ? `other tenants hold it until ${at(event.startsAt)}` : 'other tenants hold it'}`;
  if (!event.startsAt) return `${notBefore}; does not start by itself`;
  return Date.parse(event.startsAt) > Date.parse(event.notBeforeAt)
    ? `${notBefore}; other tenants hold it until ${at(event.startsAt)}`
    : notBefore;
}

export function impact(seconds) {
  if (seconds < 0) return 'impact unknown';
  return seconds === 0 ? 'no impact' : `${span(seconds * 1000)} of impact`;
}

/** What is at work of `PUT /simulator/faults`, and on which answers. */
export function faultText({ left, times: _, vm, method, path, apiVersion, for: period, then = [], ...order }) {
  const answers = left === 1 ? 'The next answer' : left ? `The next ${left} answers` : 'Answers';
  const asked = [method && `to ${method}`, path && `at ${path}`, apiVersion && `in ${apiVersion.join(' or ')}`, vm && `of ${vm}`];
  const whose = [answers, ...asked, period && `within ${period}`].filter(Boolean).join(' ');
  const spoils = Object.entries(order).map(faultPart).join(', ') || 'as they should be';
  return `${whose}: ${spoils}${then.length > 0 ? `; then ${then.length} more` : ''}`;
}

function faultPart([key, value]) {
  if (value === true) return key;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${key} ${text === '' ? 'empty' : text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

/** The changes from one state to the next, for the status line; many are counted. */
export function changes(before, after) {
  const known = new Map(before.events.map((event) => [event.EventId, event]));
  const found = [];
  for (const event of after.events) {
    const old = known.get(event.EventId);
    known.delete(event.EventId);
    if (!old) found.push([event, event.EventStatus === 'Started' ? 'started without notice' : 'scheduled']);
    else if (old.EventStatus !== event.EventStatus) found.push([event, 'started']);
    else if (!old.approvedAt && event.approvedAt) found.push([event, 'approved']);
    else if (old.NotBefore !== event.NotBefore) found.push([event, 'moved']);
  }
  const ends = new Map(after.past.map((event) => [event.EventId, event.end]));
  for (const event of known.values()) found.push([event, ends.get(event.EventId) ?? 'over']);
  if (found.length <= 3) return found.map(([event, what]) => `${titleOf(event)} ${what}`).join('. ');
  const counts = Map.groupBy(found, ([, what]) => what);
  return `Events: ${[...counts].map(([what, of]) => `${of.length} ${what}`).join(', ')}`;
}
