// `health`: the bridge on this machine, or the one of --bridge → an exit code: whether it is ready.
import { messageOf } from '../../errors.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import { loadSection } from '../config.ts';
import { expectOwnBridge } from '../store.ts';
import { EXIT, optionText, type Verb, type VerbContext } from '../verb.ts';
import {
  askBridge,
  authorization,
  BRIDGE_OPTIONS,
  type BridgeRequest,
  bridgeOrFile,
  bridgeUrl,
  healthRequest,
} from './bridge-client.ts';

const TIMEOUT_MS = 5000;

export const healthVerb: Verb = {
  usage: '[--config FILE | --bridge URL [--token-env NAME]]',
  description: `Requests /readyz from a running bridge. Exits with 0 if it is ready, and with 1 if it is not or does not answer within 5 s. Standard error has the reason,
in more detail with the token of a reader. With --config it uses the address of that bridge on this machine: http.health, or http.listen.
The default is http://127.0.0.1:8700. No secret of the configuration is read.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration of the running bridge' },
    ...BRIDGE_OPTIONS,
  },
  examples: [
    [
      'scheduled-events-bridge health --config /etc/scheduled-events-bridge/bridge.yaml',
      'on the machine of the service',
    ],
    ['scheduled-events-bridge health --bridge http://127.0.0.1:8700', 'a bridge by its address'],
  ],
  async run(context) {
    const request = await readyRequest(context);
    try {
      const { status, body } = await askBridge(request, context, TIMEOUT_MS);
      const { ready, reasons = [] } = JSON.parse(body) as { ready?: unknown; reasons?: readonly unknown[] };
      const file = optionText(context, 'config');
      if (file !== undefined) await expectOwnBridge(context, file);
      if (status === 200 && ready === true) {
        await context.print('ready');
        return EXIT.fine;
      }
      context.warn(visibleLine(`not ready: ${reasons.join('; ') || `status ${status}`}`));
    } catch (error) {
      context.signal.throwIfAborted();
      context.warn(visibleLine(`${new URL(request.url).origin} gave no answer of a bridge: ${messageOf(error)}`));
    }
    return EXIT.failed;
  },
};

async function readyRequest(context: VerbContext): Promise<BridgeRequest> {
  const { bridge, file } = bridgeOrFile(context);
  if (bridge === undefined) return healthRequest(await loadSection(file, 'http'), file);
  const headers = optionText(context, 'token-env') === undefined ? {} : authorization(context);
  return { method: 'GET', url: bridgeUrl(context, bridge, '/readyz'), headers };
}
