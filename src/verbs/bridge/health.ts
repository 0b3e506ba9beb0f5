// `health`: a bridge on this machine, or that of --bridge → whether it is ready, as an exit code.
import { BridgeError, messageOf } from '../../errors.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import { deadline } from '../../time/clock.ts';
import { loadSection } from '../config.ts';
import { EXIT, text, type Verb, type VerbContext } from '../verb.ts';
import { askBridge, authorization, BRIDGE_OPTIONS, type BridgeRequest, bridgeUrl } from './bridge-client.ts';
import { healthRequest } from './own-bridge.ts';

const TIMEOUT_MS = 5000;

export const health: Verb = {
  usage: '[--config FILE | --bridge URL [--token-env NAME]]',
  description: `Asks a running bridge for /readyz: exits with 0 where it is ready, and with 1 where it is not, or does not answer within 5 s. Why is said on standard error;
with the token of a reader in more words. With --config it asks where that bridge listens on this machine: http.health, else http.listen.
Without either: http://127.0.0.1:8700. No secret of the configuration is read.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration of the running bridge' },
    ...BRIDGE_OPTIONS,
  },
  examples: [
    ['scheduled-events-bridge health --config /etc/scheduled-events-bridge/bridge.yaml', 'beside the service'],
    ['scheduled-events-bridge health --bridge http://127.0.0.1:8700', 'a bridge by its address'],
  ],
  async run(context) {
    const request = await readyRequest(context);
    const limit = deadline(context.deps, TIMEOUT_MS, () => new Error(`no answer within ${TIMEOUT_MS / 1000} s`), context.signal);
    try {
      const { status, body } = await askBridge(request, limit.signal);
      const { ready, reasons = [] } = JSON.parse(body) as { ready?: unknown; reasons?: readonly unknown[] };
      if (status === 200 && ready === true) {
        await context.print('ready');
        return EXIT.fine;
      }
      context.tell(visibleLine(`not ready: ${reasons.join('; ') || `status ${status}`}`));
    } catch (error) {
      context.signal.throwIfAborted();
      context.tell(visibleLine(`${new URL(request.url).origin} did not answer as a bridge does: ${messageOf(error)}`));
    } finally {
      limit.cancel();
    }
    return EXIT.failed;
  },
};

async function readyRequest(context: VerbContext): Promise<BridgeRequest> {
  const bridge = text(context, 'bridge');
  const file = text(context, 'config');
  if (bridge === undefined) return healthRequest(await loadSection(file, 'http'), file);
  if (file !== undefined) throw new BridgeError('BRIDGE_USAGE', 'give either --config or --bridge');
  const headers = text(context, 'token-env') === undefined ? {} : authorization(context);
  return { method: 'GET', url: bridgeUrl(context, bridge, '/readyz'), headers };
}
