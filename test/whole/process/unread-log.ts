// Nothing → fills stderr, which nobody reads, then works on; stdout tells how far it is.
import { createLogger } from '../../../src/telemetry/logger.ts';

const { logger, dropped } = await createLogger({ stream: process.stderr, pretty: false, wallMs: Date.now });
const filler = 'x'.repeat(1000);
process.once('SIGTERM', () => {
  logger.info({ filler }, 'stopping');
  process.exit(0);
});
while (dropped() === 0) logger.info({ filler }, 'nobody reads this');
let turns = 0;
setInterval(() => {
  logger.info({ filler }, 'nor this');
  if (++turns === 10) process.stdout.write(`${JSON.stringify({ dropped: dropped() })}\n`);
}, 1);
