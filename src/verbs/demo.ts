// `demo`: nothing → one maintenance in plain words on standard output.
import packageJson from '../../package.json' with { type: 'json' };
import { createLogger } from '../telemetry/logger.ts';
import { STOP_LIMIT_MS } from '../time/stop.ts';
import { playDemo } from './played-demo.ts';
import { EXIT, type Verb } from './verb.ts';

export const demo: Verb = {
  usage: '',
  description: 'Simulator, bridge and a subscriber that approves; no broker, no Azure, nothing left behind. Takes about 10 s.',
  options: {},
  closeLimitMs: STOP_LIMIT_MS,
  examples: [['scheduled-events-bridge demo', 'see what it is about']],
  async run({ deps, stderr, print, signal }) {
    const { logger } = await createLogger({ stream: stderr, level: 'warn', pretty: stderr.isTTY, wallMs: deps.wallMs });
    await playDemo({ version: packageJson.version, deps, logger, say: print, signal });
    return EXIT.fine;
  },
};
