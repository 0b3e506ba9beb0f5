// Functions of many → a few of them in each turn of the event loop, in their order, so that timers and other sockets have theirs in between. No clock is read.

/** Each may be a request that is answered at once: together well under 10 ms. */
const AT_ONCE = 8;

const waiting: (() => void)[] = [];
let isDue = false;

export function nextTurn(run: () => void): void {
  waiting.push(run);
  if (isDue) return;
  isDue = true;
  setImmediate(work);
}

function work(): void {
  const now = waiting.splice(0, AT_ONCE);
  isDue = waiting.length > 0;
  if (isDue) setImmediate(work);
  for (const run of now) run();
}
