// A condition on another process or socket → a promise that it came true.

/**
 * Looks again at every turn of the event loop, a few milliseconds apart, until `holds`.
 * @throws after `withinMs`, naming `what`: a function is asked then
 */
export async function poll(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string),
  withinMs = 20_000,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > endMs)
      throw new Error(`waited ${withinMs} ms in vain for ${typeof what === 'string' ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
