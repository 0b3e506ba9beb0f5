// The simulator's state, requested once a second while visible → the page; its orders → the routes.
import { drawForms, listenToForms, move, offerScenarios } from './forms.js';
import { drawEvents, drawRequests, listenToMoves } from './lists.js';
import { $, setText } from './parts/dom.js';
import { changes, clockTime } from './text.js';
import { drawEventsInTime } from './time-line.js';

const EVERY_MS = 1000;
const LONGEST_MS = 10_000;

let state = null;
let requests = [];
let scenarios = null;
let isUnreachable = false;
let timer;
/** The number of the last refresh: an answer to an earlier one is ignored. */
let lastRefresh = 0;

async function send(method, path, body) {
  const headers = { Metadata: 'true' };
  // An order has no time limit: a fault can delay its answer.
  const signal = method === 'GET' ? AbortSignal.timeout(LONGEST_MS) : null;
  const { ok, status, text } = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal })
    .then(async (answer) => ({ ok: answer.ok, status: answer.status, text: await answer.text() }))
    .catch(() => {
      throw new Error('The simulator does not answer');
    });
  if (!ok) throw new Error(`${reasonOf(text)} (${status})`);
  return method === 'GET' ? JSON.parse(text) : null;
}

/** From problem+json, or from an answer like the metadata service's. */
function reasonOf(text) {
  try {
    const { detail, title, error } = JSON.parse(text);
    return detail ?? title ?? error;
  } catch {
    return 'The simulator rejected the request';
  }
}

async function refresh() {
  clearTimeout(timer);
  const number = ++lastRefresh;
  try {
    const paths = ['/simulator', '/simulator/requests?last=50', ...(scenarios ? [] : ['/simulator/scenarios'])];
    const [next, journal, list] = await Promise.all(paths.map((path) => send('GET', path)));
    if (number !== lastRefresh) return;
    if (isUnreachable) announce('The simulator answers again');
    else if (state) announce(changes(state, next));
    isUnreachable = false;
    document.body.classList.remove('away');
    if (list) offerScenarios(list);
    scenarios ??= list;
    state = next;
    requests = journal;
    draw();
  } catch (error) {
    if (number !== lastRefresh) return;
    isUnreachable = true;
    document.body.classList.add('away');
    announce(error.message);
  }
  if (number === lastRefresh && !document.hidden) timer = setTimeout(refresh, EVERY_MS);
}

function draw() {
  if (!state) return;
  const { now, speed, vms, incarnation, service, strict } = state;
  setText($('now'), now.slice(0, 19).replace('T', ' '));
  $('now').dateTime = now;
  const machines = vms.length === 1 ? '1 machine' : `${vms.length} machines`;
  const facts = [machines, `incarnation ${incarnation}`, `×${speed}`, serviceText(service, now), strict && 'strict'];
  setText($('summary'), facts.filter(Boolean).join(' · '));
  drawEventsInTime(state);
  drawEvents(state);
  drawForms(state);
  drawRequests(requests, now);
}

function serviceText({ state: onOff, eventsFrom }, now) {
  return `service ${onOff}${eventsFrom ? `, events from ${clockTime(eventsFrom, Date.parse(now))}` : ''}`;
}

function announce(words) {
  if (words) setText($('status'), words);
}

/** Sends an order and shows its result at once. @param words the announcement of its success */
async function order(words, method, path, body) {
  setText($('error'), '');
  try {
    await send(method, path, body);
    announce(words);
  } catch (error) {
    setText($('error'), error.message);
  }
  await refresh();
}

listenToForms(order);
listenToMoves((name, event) => move(order, name, event, state), draw);
$('span').addEventListener('change', draw);
addEventListener('resize', draw);
document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : refresh()));
await refresh();
