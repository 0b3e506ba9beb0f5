#!/usr/bin/env node
// argv → cli.ts; an old Node prints a message before it reads a file that it cannot parse.

// By default Node opens its debugger on this signal, on a port without authentication.
process.on('SIGUSR1', () => {});

const OLDEST_NODE = 24;

/**
 * V8 flags by verb. `run` polls and sleeps: it needs no optimizing compiler and no large young generation. `top` reads up
 * to a thousand streams, and needs no large young generation either. The maximum size of the young generation is fixed
 * at the start of the process, but these flags can still stop its growth.
 */
const LEAN: Readonly<Record<string, readonly string[]>> = {
  run: ['--no-opt', '--no-maglev', '--semi-space-growth-factor=1'],
  top: ['--semi-space-growth-factor=1'],
};

/** On Windows SIGBREAK is Ctrl+Break, and SIGHUP a closed window, after which the process has a few seconds. */
const ENDING =
  process.platform === 'win32'
    ? (['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP'] as const)
    : (['SIGTERM', 'SIGINT'] as const);

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `scheduled-events-bridge needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}. ` +
      'In a checkout, `npm ci` brings the right one and `npx scheduled-events-bridge` uses it; elsewhere install it from nodejs.org.\n',
  );
  process.exitCode = 1;
} else {
  // Installed before anything is loaded, so that a signal during the start ends the process cleanly. Repeated signals
  // are ignored: npx passes Ctrl-C on a second time, and that must not cut off a clean end.
  const stop = new AbortController();
  // `top` restores the terminal when its window closes, too.
  if (process.argv[2] === 'top') process.on('SIGHUP', () => stop.abort());
  for (const name of ENDING) process.on(name, () => stop.abort());
  // A user's own flags replace these. They are set before the first import: later the compilers have already used 2 MB.
  if (process.execArgv.length === 0 && !process.env['NODE_OPTIONS'])
    for (const flag of LEAN[process.argv[2] ?? ''] ?? []) process.getBuiltinModule('node:v8').setFlagsFromString(flag);
  const hangups = { arrived: false, listener: () => {} };
  // `run` reloads its configuration on SIGHUP, which Windows cannot send; every other verb ends, which is the default.
  if (process.argv[2] === 'run' && process.platform !== 'win32') {
    process.on('SIGHUP', () => {
      hangups.arrived = true;
      hangups.listener();
    });
  }
  const { main } = await import('./cli.ts');
  await main(stop, hangups);
}
