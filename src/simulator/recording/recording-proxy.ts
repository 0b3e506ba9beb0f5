// `--record --upstream` → a proxy before the real metadata service that records its answers.
import { BridgeError } from '../../errors.ts';
import { isLoopback } from '../../net/private-addresses.ts';
import { problem } from '../answer.ts';
import { VirtualClock } from '../events/virtual-clock.ts';
import { type Address, type Listener, listen, type RequestHandler } from '../listener.ts';
import { isMetadataRoute } from '../metadata/metadata-routes.ts';
import type { SimulatorServerOptions } from '../server.ts';
import { VirtualTimers } from '../virtual-timers.ts';
import { type Recording, type RecordingOptions, startRecording } from './start-recording.ts';
import { connectUpstream, parseUpstream, type Upstream } from './upstream.ts';

export interface RecordingProxyOptions
  extends Pick<RecordingOptions, 'path' | 'anonymise'>,
    Pick<SimulatorServerOptions, 'allowHosts' | 'deps' | 'logger'> {
  /** Port 0 takes a free one. */
  readonly listen: Address;
  /** `http://HOST[:PORT]` */
  readonly upstream: string;
}

/**
 * Passes on /metadata and all below it, as it is and with any verb, and records what the scheduled events say. Closing it ends open requests.
 * @throws BridgeError BRIDGE_USAGE for an upstream that is none or is this proxy itself; BRIDGE_SIMULATOR_RECORDING, BRIDGE_SIMULATOR_LISTEN
 */
export async function startRecordingProxy(options: RecordingProxyOptions): Promise<Listener> {
  const { deps, logger, allowHosts = [] } = options;
  const origin = parseUpstream(options.upstream);
  await using open = new AsyncDisposableStack();
  const recording = open.use(await startRecording({ ...options, startedAtMs: deps.wallMs() }));
  const upstream = open.use(connectUpstream(origin, deps));
  const parts = { deps, timers: new VirtualTimers(new VirtualClock(deps, 1), deps), allowHosts };
  const listener = open.use(await listen(options.listen, recordingProxy(upstream, recording, deps.wallMs), parts));
  if (isSame(listener.url, origin))
    throw new BridgeError('BRIDGE_USAGE', '--upstream is the address of --listen: the recorder would ask itself');
  if (!isLoopback(options.listen.host))
    logger?.warn(
      { url: listener.url },
      'the recorder listens beyond loopback: whoever reaches this port reaches the metadata service of this machine',
    );
  const moved = open.move();
  return { url: listener.url, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/**
 * How the proxy answers. Rejects only with the reason of `closed`, when the client has gone; that request is cancelled upstream too and leaves no line.
 * @param nowMs wall time, which NotBefore is compared with
 */
function recordingProxy(upstream: Upstream, recording: Pick<Recording, 'record'>, nowMs: () => number): RequestHandler {
  return async (request, { closed }) => {
    if (!isMetadataRoute(request.url)) return problem({ status: 404, detail: 'Only /metadata is passed on; there is no simulator here.' });
    if (isIdentityRoute(request.url))
      return problem({ status: 403, detail: 'The recorder passes on no identity of this machine: ask the metadata service itself.' });
    const answer = await upstream.forward(request, closed);
    recording.record(request, answer, nowMs());
    return answer;
  };
}

/** Whether both lead to the recorder. @param own where it listens */
function isSame(own: string, origin: string): boolean {
  const [listening, asked] = [new URL(own), new URL(origin)];
  const isLocalhost = asked.hostname === 'localhost' && ['127.0.0.1', '[::1]'].includes(listening.hostname);
  return asked.port === listening.port && (isLocalhost || asked.hostname === listening.hostname);
}

/** Tokens of the managed identity are for programs on this machine, and the recorder's port may be open to others. */
function isIdentityRoute(url: string): boolean {
  const [path = ''] = url.split('?');
  const plain = path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return /identity/i.test(plain);
}
