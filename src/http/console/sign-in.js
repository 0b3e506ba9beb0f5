// A token, a certificate or neither → who is signed in here, and what they may.
import { ask, proof, token } from './bridge.js';
import { $, setText } from './parts/dom.js';

/** `{ name, role, admin }`, as the bridge tells it; null: it lets nobody read who is not signed in. */
let caller = null;

export const isLocked = () => caller === null;

/** Why this act is not for who is signed in; null where it is. @param needs `approver` or `admin` */
export function barFor(needs) {
  if (!caller?.role) return 'sign-in';
  if (caller.role === 'reader') return `${caller.name} is a reader, who may look and not act.`;
  return needs === 'admin' && !caller.admin ? `${caller.name} may approve; this takes an admin.` : null;
}

/** Whether this hold may be released by who is signed in; true if nobody is. */
export const mayRelease = (approver) => !caller?.role || caller.admin || caller.name === approver;

/** Whether a rule lets who is signed in approve; true if nobody is, and while nobody's approval is missing. */
export const isAwaited = (waitingFor) => !caller?.role || waitingFor.length === 0 || waitingFor.includes(caller.name);

/** Asks for a token where one would do. True: the act may go on. */
export function mayAct(needs) {
  const bar = barFor(needs);
  if (bar === null) return true;
  setText($('error'), bar === 'sign-in' ? 'Sign in first: acting takes a token.' : bar);
  $('token').focus();
  return false;
}

/** A button whose act is not for this reader is out of use, and says why. */
export function guard(button, needs, isPossible = true, why = '') {
  const bar = barFor(needs);
  const isBarred = bar !== null && bar !== 'sign-in';
  button.disabled = isBarred || !isPossible;
  button.title = isBarred ? bar : isPossible ? '' : why;
}

/** Who this page is to the bridge. Throws what is not an answer to that. */
export async function askWhoItIs() {
  try {
    caller = await ask('GET', 'v1/caller');
    setText($('error'), '');
  } catch (error) {
    if (error.status !== 401 && error.status !== 429) throw error;
    const hadToken = token.get() !== null;
    token.forget();
    caller = null;
    if (hadToken) setText($('error'), error.message);
    // Where reading takes no token, a wrong one shuts nobody out.
    if (hadToken) caller = await ask('GET', 'v1/caller').catch(() => null);
  }
  draw();
}

function draw() {
  const isSignedIn = caller?.role != null;
  document.body.classList.toggle('locked', caller === null);
  $('sign-in').hidden = isSignedIn;
  $('who').hidden = !isSignedIn;
  $('sign-out').hidden = token.get() === null;
  const rights = caller?.admin ? 'admin' : caller?.role;
  setText($('who-name'), isSignedIn ? `${caller.name}, ${rights}` : '');
  setText($('rights'), rightsWords());
}

function rightsWords() {
  if (caller === null) return 'Reading takes a token here.';
  if (caller.role === null) return 'Reading takes no token here; acting does.';
  if (caller.role === 'reader') return 'A reader may look and not act.';
  return caller.admin ? '' : 'Sinks, dead letters, drills and configuration take an admin.';
}

/** @param onChange called whenever somebody else is signed in */
export function listenToSignIn(onChange) {
  $('sign-in').addEventListener('submit', async (event) => {
    event.preventDefault();
    const value = $('token').value.trim();
    try {
      await ask('GET', 'v1/caller', undefined, proof(value));
    } catch (error) {
      setText($('error'), error.message);
      $('token').select();
      return;
    }
    $('token').value = '';
    token.keep(value);
    await onChange();
    $('who-name').focus();
  });
  $('sign-out').addEventListener('click', async () => {
    token.forget();
    await onChange();
    $('token').focus();
  });
}
