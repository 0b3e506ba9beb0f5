#!/usr/bin/env node
// The command as installed: an old Node gets a sentence before anything that it cannot parse is read; any other goes on to cli.ts.

const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `scheduled-events-bridge needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}. ` +
      'In a checkout, `npm ci` brings the right one and `npx scheduled-events-bridge` uses it; elsewhere install it from nodejs.org.\n',
  );
  process.exitCode = 1;
} else {
  const { main } = await import('./cli.ts');
  await main();
}
