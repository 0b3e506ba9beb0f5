// An HTTP proxy and a target → a connection through the proxy to the target.
import type { Socket } from 'node:net';
import { BridgeError, codeOf, messageOf } from '../../../src/errors.ts';
import { askConnect, connectRefusal, type ProxyServer } from '../../../src/net/proxy-connect.ts';

/** An open connection on which not a byte came yet. @throws BridgeError BRIDGE_SERVICE_BUS_PROXY, or the signal's reason. */
export async function openTunnel(proxy: ProxyServer, authority: string, signal: AbortSignal): Promise<Socket> {
  const { status, socket, isMoreThanAnswer } = await askConnect(proxy, authority, signal).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : broken(proxy.who, codeOf(error) ?? messageOf(error));
  });
  const isOpen = status >= 200 && status <= 299;
  if (isOpen && !isMoreThanAnswer) return socket;
  socket.destroy();
  if (isOpen) throw broken(proxy.who, 'it sent more than its answer');
  throw connectRefusal('BRIDGE_SERVICE_BUS_PROXY', proxy, authority, status, 'this host and port');
}

function broken(who: string, said: string): BridgeError {
  const message = `${who} gave no valid answer to CONNECT (${said}): the bridge retries; if this lasts, check that it runs and is an HTTP proxy`;
  return new BridgeError('BRIDGE_SERVICE_BUS_PROXY', message, { disposition: 'retry', scope: 'sink', status: said });
}
