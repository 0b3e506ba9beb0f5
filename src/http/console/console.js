// The bridge's routes and its stream → the page; it asks anew when something has happened.
import { actOn, noteMode, noticeChange } from './acts.js';
import { ask, nowMs } from './bridge.js';
import { drawConfiguration, listenToReload } from './configuration.js';
import { listenToDialog } from './dialogs.js';
import { drawDrills, listenToDrills, readDrills } from './drill.js';
import { drawEvents, listenToEvents, tickEvents } from './events.js';
import { drawHoldOfAll, isAllHeld, listenToHoldOfAll } from './hold-all.js';
import { drawLetters, listenToLetters, readLetters } from './letters.js';
import { lifeOf, pastLives, readLives, takeEvent } from './lives.js';
import { $, setText } from './parts/dom.js';
import { changeSummary, span } from './parts/text.js';
import { askWhoItIs, isLocked, listenToSignIn } from './sign-in.js';
import { drawSinks, listenToSinks } from './sinks.js';
import { retell } from './story.js';
import { Stream } from './stream.js';
import { nameOf } from './words.js';

/** Holds, and the age of the last document, are in no CloudEvent. */
const EVERY_MS = 3000;
const SOON_MS = 100;
const LONGEST_MS = 15_000;
const TIDINGS_MS = 500;
const CLOCK_TOLERATED_S = 5;

let view = null;
let ready = null;
let readAtMs = 0;
let timer;
let isReading = false;
let isDue = false;
/** Whether the last reading failed, so that what shows is old. */
let isAway = false;
/** What the stream brought since the last reading. */
let happened = [];
let untold = [];

const stream = new Stream({
  onFrame({ position, change, event }) {
    takeEvent(position, event);
    noticeChange(change, event);
    happened.push(event);
    if (untold.length === 0) setTimeout(tell, TIDINGS_MS);
    untold.push([titleOf(event), change]);
    readSoon();
  },
  onState({ isLive, isNew, why }) {
    document.body.classList.toggle('away', !isLive);
    setText($('live'), isLive ? 'Live' : `Not live: ${why}. Trying again.`);
    if (isLive) void begin(isNew);
    else readSoon(0);
  },
});

/** Steps of an approval name their event by its id alone. */
function titleOf({ data, drill }) {
  if (data.resources) return nameOf({ ...data, drill });
  const life = data.eventId ? lifeOf(data.eventId) : null;
  return life ? nameOf({ ...life.data, drill: life.isDrill }) : (data.eventId ?? 'Metadata service:');
}

/** After a connection: all that may have been missed is read anew. */
async function begin(isNew) {
  try {
    if (isNew) await readLives(nowMs());
  } catch (error) {
    setText($('error'), error.message);
  }
  retell();
  readSoon();
}

function tell() {
  say(changeSummary(untold.map(([title, change]) => [title, change.replace('.', ' ')])));
  untold = [];
}

function say(words) {
  if (words) setText($('status'), words);
}

function readSoon(ms = SOON_MS) {
  if (isReading) isDue = true;
  else schedule(ms);
}

function schedule(ms) {
  clearTimeout(timer);
  if (!document.hidden && !isLocked()) timer = setTimeout(read, ms);
}

async function read() {
  isReading = true;
  isDue = false;
  const fromMs = performance.now();
  const told = happened;
  happened = [];
  try {
    const [events, sinks, readiness] = await Promise.all(
      ['v1/events', 'v1/sinks', 'readyz'].map((path) => ask('GET', path)),
    );
    await readLetters(sinks);
    isAway = false;
    view = events;
    ready = readiness;
    readAtMs = nowMs();
    noteMode(view);
    drawHoldOfAll(view);
    drawEvents(view);
    drawSinks(sinks);
    drawLetters();
    drawLinks(sinks);
    drawConfiguration(ready.configuration);
    tick();
    retell(new Set(told.map(({ data }) => data.eventId?.toLowerCase())));
    const ids = [...view.events, ...pastLives().map(({ data }) => data)].map(({ eventId }) => eventId);
    await readDrills(ids.filter((eventId) => /^drill-/i.test(eventId)));
    drawDrills();
  } catch (error) {
    if (error.status === 401) await signedInAnew();
    else {
      isAway = true;
      tick();
    }
  }
  isReading = false;
  // Where the bridge or this browser takes long, it is asked less often.
  const tookMs = performance.now() - fromMs;
  schedule(isDue ? Math.max(SOON_MS, tookMs) : Math.min(LONGEST_MS, Math.max(EVERY_MS, tookMs * 5)));
}

/** What time alone changes, each second. */
function tick() {
  if (!view || document.hidden) return;
  tickEvents();
  drawMachine(view);
  drawSight();
}

/** Which machine this is: an SSH tunnel gives the pages of all machines one address. */
function drawMachine({ vm, version, events }) {
  const name = vm.name ?? vm.source ?? location.host;
  const warnings = warningsOf(view);
  const count = events.length > 0 ? `(${events.length}) ` : '';
  document.title = `${isAway || view.state === 'blind' ? '⚠ ' : ''}${isAllHeld() ? '❚❚ ' : ''}${count}${name} · Scheduled Events bridge`;
  setText($('machine'), name);
  setText($('machine-facts'), [`version ${version}`, vm.name && vm.source].filter(Boolean).join(' · '));
  setText($('warnings'), warnings.join(' '));
  $('warnings').hidden = warnings.length === 0;
}

function warningsOf({ state, dryRun, clock, observedAt }) {
  const offset = clock.offsetSeconds ?? 0;
  const oldMs = nowMs() - (state === 'blind' ? Date.parse(observedAt ?? '') : readAtMs);
  const old = Number.isNaN(oldMs) ? 'What shows may be old' : `What shows is ${span(oldMs)} old`;
  return [
    isAway && `Not live: the bridge does not answer. ${old}; approvals cannot be sent.`,
    !isAway && state === 'blind' && `Blind: the metadata service gives no document. ${old}; approvals cannot be sent.`,
    dryRun && 'Dry run: approvals are recorded, and the bridge sends no StartRequest to Azure.',
    Math.abs(offset) > CLOCK_TOLERATED_S &&
      `The clock of this machine is ${span(Math.abs(offset) * 1000)} ${offset > 0 ? 'behind' : 'ahead of'} the metadata service: deadlines, notices and signatures depend on it.`,
  ].filter(Boolean);
}

/** The sections with their figures, within reach on the smallest screen. */
function drawLinks(sinks) {
  const trouble = sinks.filter(({ state }) => state !== 'delivering').length;
  const dead = sinks.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  setText($('to-events'), `Events (${view.events.length})`);
  setText($('to-sinks'), `Sinks (${trouble > 0 ? `⚠ ${trouble} of ` : ''}${sinks.length})`);
  setText($('to-letters'), `Dead letters (${dead})`);
}

function drawSight() {
  if (!view) return;
  const { state, documentIncarnation, observedAt, events } = view;
  const ageMs = Math.max(0, readAtMs - Date.parse(observedAt ?? ''));
  setText($('sight-state'), isAway ? 'not known' : state);
  $('sight-state').className = `state ${state === 'watching' && !isAway ? 'fine' : 'trouble'}`;
  const facts = [
    observedAt ? `last document ${span(ageMs + nowMs() - readAtMs)} ago` : 'no document yet',
    documentIncarnation !== null && `incarnation ${documentIncarnation}`,
    `${events.length} ${events.length === 1 ? 'event' : 'events'} listed`,
    location.host,
    ...(ready?.reasons ?? []),
  ];
  setText($('sight-facts'), facts.filter(Boolean).join(' · '));
}

async function signedInAnew() {
  try {
    await askWhoItIs();
  } catch (error) {
    setText($('error'), error.message);
    setTimeout(signedInAnew, EVERY_MS);
    return;
  }
  stream.forget();
  if (isLocked()) return;
  stream.start();
  readSoon(0);
}

function onDone(words) {
  setText($('error'), '');
  say(words);
  readSoon(0);
}

listenToDialog();
listenToSignIn(signedInAnew);
listenToEvents((act, event) => actOn(act, event, onDone));
listenToSinks(onDone);
listenToLetters(onDone);
listenToDrills(onDone);
listenToHoldOfAll(onDone);
listenToReload(onDone);
for (const id of ['span', 'all-lanes']) $(id).addEventListener('change', tick);
addEventListener('resize', tick);
document.addEventListener('visibilitychange', () => {
  clearTimeout(timer);
  // A tab that nobody sees holds no connection; the stream goes on where it was.
  if (document.hidden) stream.stop();
  else if (!isLocked()) {
    stream.start();
    readSoon(0);
  }
});
setInterval(tick, 1000);
await signedInAnew();
