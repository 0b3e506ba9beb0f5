#!/usr/bin/env node
// The command as installed: an old Node gets a sentence before anything that it cannot parse is read; any other goes on to cli.ts.

// Else Node opens its debugger at this signal, on a port without authentication.
process.on('SIGUSR1', () => {});

const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `scheduled-events-bridge needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}. ` +
      'In a checkout, `npm ci` brings the right one and `npx scheduled-events-bridge` uses it; elsewhere install it from nodejs.org.\n',
  );
  process.exitCode = 1;
} else {
  // Before anything is loaded, so that whoever is told to end while it starts ends as it does later. Again and again: Ctrl-C comes twice where
  // npx passes it on, and the second must not cut off what the first lets end.
  const told = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => told.abort());
  const { main } = await import('./cli.ts');
  await main(told);
}
