// Forms and buttons → orders to the simulator; the state → the choices in the forms.
import { $, el, onClose, setText, sync } from './parts/dom.js';
import { clockTime, faultText, nameOf } from './text.js';

const FIVE_MINUTES_MS = 5 * 60_000;

/**
 * Sends the order of an event's button.
 * @param order `(words, method, path, body)`; announces `words` on success
 * @param state the last state
 */
export function move(order, name, event, state) {
  const path = `/simulator/events/${encodeURIComponent(event.EventId)}`;
  if (name === 'move') return askForTime(order, event, path);
  if (name === 'later') return order('', 'PATCH', path, laterBy(FIVE_MINUTES_MS, event, state));
  if (name === 'approve') {
    const body = { StartRequests: [{ EventId: event.EventId }] };
    return order('', 'POST', '/metadata/scheduledevents?api-version=2020-07-01', body);
  }
  return order('', 'POST', `${path}/${name}`);
}

/** With the wall clock, an earlier NotBefore can mean another time now, so this sends a notice. */
function laterBy(ms, event, { now, notBefore }) {
  const fromMs = Math.max(Date.parse(event.notBeforeAt) || 0, Date.parse(now));
  if (notBefore === 'wall') return { notice: `${fromMs - Date.parse(now) + ms}ms` };
  return { NotBefore: new Date(fromMs + ms).toISOString() };
}

function askForTime(order, event, path) {
  const dialog = $('move-dialog');
  setText($('move-event'), nameOf(event));
  $('move-time').value = event.NotBefore && new Date(event.NotBefore).toISOString().slice(0, 19);
  onClose(dialog, 'move', () => {
    const time = $('move-time').value;
    order('', 'PATCH', path, { NotBefore: time && `${time.length === 16 ? `${time}:00` : time}Z` });
  });
}

export function listenToForms(order) {
  onSubmit('schedule', (form) => {
    const { started, ...fields } = filled(form);
    const Resources = [...form.querySelectorAll('#resources :checked')].map(({ value }) => value);
    const body = {
      ...fields,
      ...(Resources.length > 0 ? { Resources } : {}),
      ...(started ? { EventStatus: 'Started' } : {}),
    };
    order('', 'POST', '/simulator/events', body);
  });
  onSubmit('scenario', () => {
    const name = $('scenarios').value;
    order(`Scenario ${name} started.`, 'POST', `/simulator/scenarios/${encodeURIComponent(name)}`);
  });
  onSubmit('faults', (form) => order('Fault set.', 'PUT', '/simulator/faults', filled(form)));
  onPress('presets', ({ order: body }) => order('Fault set.', 'PUT', '/simulator/faults', JSON.parse(body)));
  onPress('speeds', ({ speed }) =>
    order(`Speed set to ×${speed}.`, 'PUT', '/simulator/clock', { speed: Number(speed) }),
  );
  onPress('advances', ({ advance }) => order('', 'PUT', '/simulator/clock', { advance }));
  $('clear-fault').addEventListener('click', () => order('Fault cleared.', 'PUT', '/simulator/faults', {}));
  $('reset').addEventListener('click', () =>
    onClose($('reset-dialog'), 'reset', () => order('Reset done.', 'DELETE', '/simulator')),
  );
}

function onSubmit(id, run) {
  $(id).addEventListener('submit', (event) => {
    event.preventDefault();
    run(event.target);
  });
}

function onPress(id, run) {
  $(id).addEventListener('click', ({ target }) => {
    const button = target.closest('button');
    if (button) run(button.dataset);
  });
}

/** Returns the fields that are filled in, by name; numbers as numbers, checked boxes as true. */
function filled(form) {
  const fields = [...form.elements].filter(
    ({ name, value, type, checked }) => name && (type === 'checkbox' ? checked : value.trim()),
  );
  const read = ({ type, value, valueAsNumber }) =>
    type === 'checkbox' ? true : type === 'number' ? valueAsNumber : value.trim();
  return Object.fromEntries(fields.map((field) => [field.name, read(field)]));
}

/** @param scenarios the answer of `GET /simulator/scenarios` */
export function offerScenarios(scenarios) {
  const choice = $('scenarios');
  choice.replaceChildren(...scenarios.map(({ name }) => el('option', {}, name)));
  choice.onchange = () => setText($('purpose'), scenarios[choice.selectedIndex]?.purpose ?? '');
  choice.onchange();
}

export function drawForms({ now, speed, vms, scenario, fault }) {
  for (const button of $('speeds').children)
    button.setAttribute('aria-pressed', String(Number(button.dataset.speed) === speed));
  sync(
    $('resources'),
    vms,
    ({ name }) => name,
    ({ name }) => el('label', { className: 'tick' }, el('input', { type: 'checkbox', value: name }), ` ${name}`),
    () => {},
  );
  sync(
    $('fault-vm'),
    [{ name: '' }, ...vms],
    ({ name }) => name,
    ({ name }) => el('option', { value: name }, name || 'any'),
    () => {},
  );
  setText(
    $('running'),
    scenario
      ? `Running: ${scenario.name}, since ${clockTime(scenario.startedAt, Date.parse(now))}.`
      : 'No scenario is running.',
  );
  setText($('fault'), fault ? faultText(fault) : 'No fault is active.');
  if (!fault && document.activeElement === $('clear-fault')) $('fault').focus();
  $('clear-fault').hidden = !fault;
}
