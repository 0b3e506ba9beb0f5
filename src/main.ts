#!/usr/bin/env node
// argv → cli.ts; an old Node gets a sentence before anything that it cannot parse is read.

// Else Node opens its debugger at this signal, on a port without authentication.
process.on('SIGUSR1', () => {});

const OLDEST_NODE = 24;

/**
 * For `run`, as the flags of the unit in deploy/: a process that polls and sleeps needs no optimizing compiler and no roomy nursery.
 * How large the nursery may get is fixed at the start; that it does not grow can still be said.
 */
const LEAN = ['--no-opt', '--no-maglev', '--semi-space-growth-factor=1'];

/** On Windows SIGBREAK is Ctrl+Break, and SIGHUP the window that is closed: the process has a few seconds then. */
const ENDING = process.platform === 'win32' ? (['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'] as const) : (['SIGTERM', 'SIGINT'] as const);

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
  for (const name of ENDING) process.on(name, () => told.abort());
  // A user's own flags stand alone. Set before the first import: a little later the compilers have touched 2 MB.
  if (process.argv[2] === 'run' && process.execArgv.length === 0 && !process.env['NODE_OPTIONS'])
    for (const flag of LEAN) process.getBuiltinModule('node:v8').setFlagsFromString(flag);
  const hangups = { heard: false, listener: () => {} };
  // For `run` it means to read the configuration again, which Windows cannot send; every other verb ends by it, as is usual.
  if (process.argv[2] === 'run' && process.platform !== 'win32') {
    process.on('SIGHUP', () => {
      hangups.heard = true;
      hangups.listener();
    });
  }
  const { main } = await import('./cli.ts');
  await main(told, hangups);
}
