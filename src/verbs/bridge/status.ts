// `status`: a bridge, or its store → one screen or one JSON object, and the exit code of `health`.
import { messageOf } from '../../errors.ts';
import { loadSection } from '../config.ts';
import { expectOwnBridge } from '../store.ts';
import { EXIT, optionText, type Verb, type VerbContext } from '../verb.ts';
import { authorization, BRIDGE_OPTIONS, bridgeOrFile, bridgeUrl, DEFAULT_BRIDGE, ownRequest } from './bridge-client.ts';
import { fitScreen, type ScreenSize } from './fit-screen.ts';
import { statusScreen } from './status-screen.ts';
import type { StatusView } from './status-view.ts';
import { statusOfBridge, statusOfStore } from './status-view.ts';

export const statusVerb: Verb = {
  usage: '[--all] [--json] [--config FILE | --bridge URL [--token-env NAME]]',
  description: `Shows whether the bridge can see events, which events are coming and who must still approve them, the state of each sink, dead letters, and a
rejected reload. Exits with 0 if the bridge is ready, and with 1 if it is not or does not answer within 5 s.
Without the token of a reader it shows only public data. With --config it uses the address of that bridge on this machine (http.listen),
and reads the rest from the store, also if no bridge is running; no secret of the configuration is read.
The default is http://127.0.0.1:8700. Prints one JSON object if standard output is not a terminal.`,
  options: {
    all: { type: 'boolean', help: 'shows every event and sink, also if they do not fit the terminal' },
    json: { type: 'boolean', help: 'prints one JSON object on a terminal, too' },
    config: { type: 'string', value: 'FILE', help: 'the configuration of the bridge' },
    ...BRIDGE_OPTIONS,
  },
  examples: [
    [
      'scheduled-events-bridge status --config /etc/scheduled-events-bridge/bridge.yaml',
      'on the machine of the service, running or not',
    ],
    [
      'scheduled-events-bridge status --bridge https://bridge.example:8700 --token-env READER_TOKEN',
      'a remote bridge, as a reader',
    ],
  ],
  async run(context) {
    const view = await viewOf(context);
    if (context.stdout.isTTY && context.values['json'] !== true)
      for (const { text, colour } of fitScreen(statusScreen(view, context.deps.wallMs()), sizeOf(context)))
        await context.print(text, colour);
    else await context.print(JSON.stringify(view));
    return view.ready ? EXIT.fine : EXIT.failed;
  },
};

/** Without limits if the terminal does not know its size. */
function sizeOf({ stdout: { columns, rows }, values }: VerbContext): ScreenSize {
  return { columns: columns || Infinity, rows: values['all'] === true || !rows ? Infinity : rows };
}

async function viewOf(context: VerbContext): Promise<StatusView> {
  const { bridge, file } = bridgeOrFile(context);
  if (file === undefined) return await remoteView(context, bridge ?? DEFAULT_BRIDGE);
  const view = await runningOwn(context, file);
  return view.from === null ? await withStore(context, file, view) : view;
}

function remoteView(context: VerbContext, bridge: string): Promise<StatusView> {
  const headers = optionText(context, 'token-env') === undefined ? {} : authorization(context);
  const base = bridgeUrl(context, bridge, '/');
  return running(context, base.href, (path) => ({ method: 'GET', url: new URL(path, base), headers }));
}

async function running(
  context: VerbContext,
  url: string,
  requestTo: Parameters<typeof statusOfBridge>[1],
): Promise<StatusView> {
  try {
    return await statusOfBridge(context, requestTo);
  } catch (error) {
    context.signal.throwIfAborted();
    return absent(`no bridge answers at ${new URL(url).origin}: ${messageOf(error)}`);
  }
}

/** Like `running`, for the bridge of a configuration: another bridge at its address does not count. */
async function runningOwn(context: VerbContext, file: string): Promise<StatusView> {
  const http = await loadSection(file, 'http');
  const view = await running(context, String(ownRequest(http, file, '/').url), (path) => ownRequest(http, file, path));
  if (!view.isRunning) return view;
  try {
    await expectOwnBridge(context, file);
    return view;
  } catch (error) {
    return absent(messageOf(error));
  }
}

async function withStore(context: VerbContext, file: string, view: StatusView): Promise<StatusView> {
  try {
    return { ...view, ...(await statusOfStore(context, file)) };
  } catch (error) {
    context.signal.throwIfAborted();
    return { ...view, reasons: [...view.reasons, messageOf(error)] };
  }
}

function absent(reason: string): StatusView {
  return {
    ...{ vm: null, version: null, dryRun: null, heldAll: null, clock: null, certificates: [] },
    ...{
      ready: false,
      reasons: [reason],
      isRunning: false,
      from: null,
      state: null,
      documentIncarnation: null,
      observedAt: null,
    },
    ...{
      documentAgeSeconds: null,
      events: null,
      sinks: null,
      sinkStates: null,
      deadLetters: null,
      configuration: null,
    },
  };
}
