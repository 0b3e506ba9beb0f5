// Times and names → the texts of pages.

export const SIGNS = { Scheduled: '○', Started: '●', completed: '✓', canceled: '✕', withdrawn: '–', unknown: '–' };

/** C0, DEL and C1, characters that change the direction of writing, and the line ends of Unicode. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gv;

/** Returns foreign text with invisible and misleading characters escaped as in JSON. */
export function visible(text) {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `Reboot of web_0, web_1` */
export function titleOf(type, machines) {
  const named = machines.slice(0, 3).join(', ') || 'no machine';
  return `${type} of ${named}${machines.length > 3 ? ` and ${machines.length - 3} more` : ''}`;
}

/** `14:15:00`, with the date if it is not the day of `nowMs`. */
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
  const ms = new Date(when) - nowMs;
  return ms < 0 ? `${span(ms)} ago` : `in ${span(ms)}`;
}

/** `14:15:00, in 15 min` */
export const timeAndDistance = (when, nowMs) => `${clockTime(when, nowMs)}, ${fromNow(when, nowMs)}`;

export function impact(seconds) {
  if (seconds < 0) return 'duration unknown';
  return seconds === 0 ? 'no impact' : `${span(seconds * 1000)} of impact`;
}

/** Describes changes for a status line; counts them if there are more than three. @param found pairs of a title and a change */
export function changeSummary(found) {
  if (found.length <= 3) return found.map(([title, what]) => `${title} ${what}`).join('. ');
  const counts = Map.groupBy(found, ([, what]) => what);
  return `Events: ${[...counts].map(([what, of]) => `${of.length} ${what}`).join(', ')}`;
}
