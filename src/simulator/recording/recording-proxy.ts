// `--record --upstream` → a proxy in front of the real metadata service that records its answers.
import { BridgeError } from '../../errors.ts';
import type { ListenAddress } from '../../net/guarded-server.ts';
import { isLoopback } from '../../net/private-addresses.ts';
import { answerProblem } from '../answer.ts';
import { VirtualClock, VirtualTimers } from '../events/virtual-clock.ts';
import { type Listener, listen, type RequestHandler } from '../listener.ts';
import { isMetadataRoute } from '../metadata/metadata-routes.ts';
import type { SimulatorServerOptions } from '../server.ts';
import { type Recording, type RecordingOptions, startRecording } from './recorder.ts';
import { connectUpstream, parseUpstream, type Upstream } from './upstream.ts';

export interface RecordingProxyOptions
  extends Pick<RecordingOptions, 'path' | 'anonymise'>,
    Pick<SimulatorServerOptions, 'allowHosts' | 'deps' | 'logger'> {
  /** Port 0 uses a free port. */
  readonly listen: ListenAddress;
  /** `http://HOST[:PORT]` */
  readonly upstream: string;
}

/**
 * Starts a proxy that forwards /metadata and everything below it, unchanged and with any method, and records the
 * answers about scheduled events. Closing it ends open requests.
 * @throws BridgeError BRIDGE_USAGE if the upstream is not a valid URL, or is this proxy itself;
 * BRIDGE_SIMULATOR_RECORDING, BRIDGE_SIMULATOR_LISTEN
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
    throw new BridgeError(
      'BRIDGE_USAGE',
      '--upstream is the address of --listen, so the recorder would forward requests to itself: choose another --listen',
    );
  if (!isLoopback(options.listen.host))
    logger?.warn(
      { url: listener.url },
      "the recorder listens beyond loopback: anyone who can reach this port can reach this machine's metadata service",
    );
  const moved = open.move();
  return { url: listener.url, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/**
 * Returns the handler that forwards and records. It rejects only with the reason of `closed`, when the client
 * disconnects. The request is then cancelled upstream too, and not recorded.
 * @param nowMs wall time, which NotBefore is compared with
 */
function recordingProxy(upstream: Upstream, recording: Pick<Recording, 'record'>, nowMs: () => number): RequestHandler {
  return async (request, { closed }) => {
    if (!isMetadataRoute(request.url))
      return answerProblem({ status: 404, detail: 'The recorder forwards only /metadata and simulates nothing.' });
    if (isIdentityRoute(request.url))
      return answerProblem({
        status: 403,
        detail:
          "The recorder does not forward requests for this machine's identity: send them to the metadata service itself.",
      });
    const answer = await upstream.forward(request, closed);
    recording.record(request, answer, nowMs());
    return answer;
  };
}

/** Whether `origin` is the recorder itself. @param own the URL at which it listens */
function isSame(own: string, origin: string): boolean {
  const [listening, upstream] = [new URL(own), new URL(origin)];
  const isLocalhost = upstream.hostname === 'localhost' && ['127.0.0.1', '[::1]'].includes(listening.hostname);
  return upstream.port === listening.port && (isLocalhost || upstream.hostname === listening.hostname);
}

/** Tokens of the managed identity are only for programs on this machine; the recorder's port may be open to others. */
function isIdentityRoute(url: string): boolean {
  const [path = ''] = url.split('?');
  const plain = path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return /identity/i.test(plain);
}
