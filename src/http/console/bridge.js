// Requests to the bridge → its answers, with the token of this tab; and the bridge's clock.

const LONGEST_MS = 20_000;
const KEPT = 'scheduled-events-bridge token';

/** What the bridge refused, in its own words. */
export class Refusal extends Error {
  constructor({ status, type = '', detail, title, faults = [], restart = [] }) {
    super(`${detail ?? title ?? 'The bridge refused'} (${status})`);
    Object.assign(this, { status, type, faults, restart });
  }
}

/** Kept for this tab alone: gone with it, and in no URL. */
export const token = {
  get: () => sessionStorage.getItem(KEPT),
  keep: (value) => sessionStorage.setItem(KEPT, value),
  forget: () => sessionStorage.removeItem(KEPT),
};

let aheadMs = 0;

/** The bridge's time, by what it last said: this browser's clock may be off. */
export const nowMs = () => Date.now() + aheadMs;

/** In whole seconds, so that less than two are no difference. */
function setClock(answer) {
  const said = Date.parse(answer.headers.get('date') ?? '');
  if (Math.abs(said + 500 - nowMs()) > 2000) aheadMs = said + 500 - Date.now();
}

export function proof(shown = token.get()) {
  return shown ? { authorization: `Bearer ${shown}` } : {};
}

/** @param path relative to the page, so that it may lie under a prefix of a proxy @throws Refusal, Error */
export async function ask(method, path, body, headers = proof()) {
  const answer = await fetch(path, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(LONGEST_MS),
  }).catch(() => {
    throw new Error('The bridge does not answer.');
  });
  setClock(answer);
  const text = await answer.text();
  const isWhole = answer.ok || (path === 'readyz' && answer.status === 503);
  if (!isWhole) throw refusalOf(answer.status, text);
  return text === '' ? null : JSON.parse(text);
}

function refusalOf(status, text) {
  try {
    return new Refusal({ ...JSON.parse(text), status });
  } catch {
    return new Refusal({ status, detail: 'Something between this page and the bridge refused' });
  }
}

/** All parts of a list that is answered by pages. */
export async function askAll(path, most = Number.POSITIVE_INFINITY) {
  const items = [];
  for (let after = 0, page = 0; after !== null && page < most; page++) {
    const part = await ask('GET', `${path}&after=${after}`);
    items.push(...part.items);
    after = part.next;
    if (after !== null && page + 1 >= most) return { items, isWhole: false };
  }
  return { items, isWhole: true };
}
