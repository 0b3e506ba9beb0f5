// TCP connections and the files of `http.tls` → TLS connections, and the certificates of clients.
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import type { ClientCertificate } from '../../auth/caller.ts';
import { BridgeError, codeOf } from '../../errors.ts';
import type { PemTexts } from '../../net/certificates.ts';
import { TlsFiles } from '../../net/tls-files.ts';
import type { Deps } from '../../time/clock.ts';
import type { ServerTls } from '../options.ts';
import { type Proof, proofOf } from './client-certificates.ts';

interface TlsHandshakesParts {
  readonly tls: ServerTls;
  /** The key of the listener, for messages: `http.listen`. */
  readonly setting: string;
  /** Other authorities sign the certificates of clients now. */
  readonly onOtherAuthorities: () => void;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  readonly logger: Logger;
}

/**
 * Looks at its files when a connection or a request comes: certificates are renewed without a restart, and nothing is
 * polled.
 */
export class TlsHandshakes {
  readonly #files: TlsFiles;
  #inUse: PemTexts;
  readonly #deps: Pick<Deps, 'wallMs'>;
  /** By connection; null: not valid. Emptied when other authorities are trusted. */
  #proofs = new WeakMap<Socket, Proof | null>();
  readonly #onOtherAuthorities: () => void;
  /** It never listens: each connection is given to it (node:tls, Event 'connection'). */
  readonly #server: Server;
  readonly #begun = new Map<string, (secured: Socket) => void>();

  /** @throws BridgeError BRIDGE_HTTP_TLS */
  constructor({ tls, setting, onOtherAuthorities, deps, logger }: TlsHandshakesParts) {
    const { cert, key, clientCa } = tls;
    const place = { owner: 'http', section: 'tls', code: 'BRIDGE_HTTP_TLS', ca: 'clientCa', level: 'error' } as const;
    this.#files = new TlsFiles({ cert, key, ...(clientCa && { ca: clientCa }) }, place, {
      logger,
      elapsedMs: deps.elapsedMs,
    });
    this.#deps = deps;
    this.#onOtherAuthorities = onOtherAuthorities;
    this.#server = openServer(tls, setting);
    this.#inUse = this.#files.texts();
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
    const proof = this.#proofs.get(socket) ?? null;
    const nowMs = this.#deps.wallMs();
    return proof !== null && nowMs >= proof.fromMs && nowMs <= proof.untilMs ? proof.names : null;
  }

  /** Other authorities are trusted since the handshake: the client has to connect again. */
  isOutdated(socket: Socket): boolean {
    return !this.#proofs.has(socket);
  }

  #secured(socket: TLSSocket): void {
    this.#proofs.set(socket, proofOf(socket));
    const begin = this.#begun.get(keyOf(socket));
    if (begin === undefined) socket.destroy();
    else begin(socket);
  }

  #lookAgain(): void {
    const [before, texts] = [this.#inUse, this.#files.texts()];
    if (texts === before) return;
    this.#inUse = texts;
    this.#server.setSecureContext(texts);
    if (texts.ca === before.ca) return;
    this.#proofs = new WeakMap();
    this.#onOtherAuthorities();
  }
}

function openServer({ cert, key, clientCa }: ServerTls, setting: string): Server {
  const texts: PemTexts = { cert: cert.reveal(), key: key.reveal(), ...(clientCa && { ca: clientCa.reveal() }) };
  // A certificate is optional, because tokens are accepted, too.
  const asking = clientCa === null ? {} : { requestCert: true, rejectUnauthorized: false };
  try {
    return process.getBuiltinModule('node:tls').createServer({ ALPNProtocols: ['http/1.1'], ...texts, ...asking });
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
