// Many functions → a few in each turn of the event loop, in order, so that other work can run.

/** Each may answer a request: together they take well under 10 ms. */
const AT_ONCE = 8;

const waiting: (() => void)[] = [];
let isDue = false;

export function nextTurn(run: () => void): void {
  waiting.push(run);
  if (isDue) return;
  isDue = true;
  setImmediate(work);
}

/** Resolves in a later turn of the event loop. */
export function untilNextTurn(): Promise<void> {
  return new Promise(nextTurn);
}

function work(): void {
  const now = waiting.splice(0, AT_ONCE);
  isDue = waiting.length > 0;
  if (isDue) setImmediate(work);
  for (const run of now) run();
}
