// TCP connections and the files of `http.tls` → TLS connections, and the certificates of clients.
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import type { ClientCertificate } from '../../auth/caller.ts';
import { BridgeError, codeOf } from '../../errors.ts';
import type { Deps } from '../../time/clock.ts';
import type { ServerTls } from '../options.ts';
import { ClientCertificates } from './client-certificates.ts';
import { ServerFiles } from './server-files.ts';

interface TlsHandshakesParts {
  readonly tls: ServerTls;
  /** The key of the listener, for messages: `http.listen`. */
  readonly setting: string;
  /** Other authorities sign the certificates of clients now. */
  readonly onOtherAuthorities: () => void;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  readonly logger: Logger;
}

/** Looks at its files when a connection or a request comes: certificates are renewed without a restart, and nothing is polled. */
export class TlsHandshakes {
  readonly #files: ServerFiles;
  readonly #clients: ClientCertificates;
  readonly #onOtherAuthorities: () => void;
  /** It never listens: each connection is given to it (node:tls, Event 'connection'). */
  readonly #server: Server;
  readonly #begun = new Map<string, (secured: Socket) => void>();

  /** @throws BridgeError BRIDGE_HTTP_TLS */
  constructor({ tls, setting, onOtherAuthorities, deps, logger }: TlsHandshakesParts) {
    this.#files = new ServerFiles(tls, setting.replace(/\.[^.]+$/, '.tls'), deps, logger);
    this.#clients = new ClientCertificates(deps);
    this.#onOtherAuthorities = onOtherAuthorities;
    this.#server = openServer(this.#files, tls, setting);
    this.#server.on('secureConnection', (socket) => this.#secured(socket));
  }

  /** Calls `begin` after the handshake, and never if it fails. */
  begin(tcp: Socket, begin: (secured: Socket) => void): void {
    this.#lookAgain();
    const key = keyOf(tcp);
    this.#begun.set(key, begin);
    tcp.once('close', () => this.#begun.delete(key));
    this.#server.emit('connection', tcp);
  }

  /** Returns the client's certificate, or null if it has none that is valid now. */
  certificateOf(socket: Socket): ClientCertificate | null {
    this.#lookAgain();
    return this.#clients.of(socket);
  }

  /** Other authorities are trusted since the handshake: the client has to connect again. */
  isOutdated(socket: Socket): boolean {
    return this.#clients.isForgotten(socket);
  }

  #secured(socket: TLSSocket): void {
    this.#clients.met(socket);
    const begin = this.#begun.get(keyOf(socket));
    if (begin === undefined) socket.destroy();
    else begin(socket);
  }

  #lookAgain(): void {
    const changed = this.#files.changed();
    if (changed === null) return;
    this.#server.setSecureContext(changed.context);
    if (!changed.otherClientCa) return;
    this.#clients.forget();
    this.#onOtherAuthorities();
  }
}

function openServer(files: ServerFiles, { cert, key, clientCa }: ServerTls, setting: string): Server {
  // A certificate is optional, because tokens are accepted, too.
  const asking = clientCa === null ? {} : { requestCert: true, rejectUnauthorized: false };
  try {
    return process.getBuiltinModule('node:tls').createServer({ ALPNProtocols: ['http/1.1'], ...files.context, ...asking });
  } catch (cause) {
    // The cause is left out: what OpenSSL says may quote the key.
    const reason = codeOf(cause) ?? 'unreadable';
    const message = `${setting} cannot serve TLS: ${cert.origin} and ${key.origin} are not a PEM certificate and its key (${reason}). Check both files.`;
    throw new BridgeError('BRIDGE_HTTP_TLS', message);
  }
}

/** The same for a TLS socket and for the TCP socket below it, and for no other connection at the same time. */
function keyOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}
