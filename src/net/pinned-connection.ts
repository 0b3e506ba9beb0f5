// A server and its certificate → a TLS connection to it and to nobody else, nothing sent yet.
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { hostOf } from './http-exchange.ts';

/**
 * The certificate is the proof: no authority, no name and no date is asked for, as whoever has its key is the server. Rejects where another one is
 * shown, with the signal's reason, or with what Node throws.
 */
export function connectPinned(url: URL, certificate: X509Certificate, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    // A client's own check comes with the handshake, which may send what is queued already: here nothing is queued before `resolve`.
    const target = { host: hostOf(url), port: Number(url.port || 443), rejectUnauthorized: false };
    const socket = process.getBuiltinModule('node:tls').connect(target);
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', abort);
      reject(error);
      socket.destroy();
    };
    const abort = () => fail(signal.reason);
    signal.addEventListener('abort', abort);
    // It stays: a connection that breaks before it is used would end the process.
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the connection was closed before it was open')));
    socket.once('secureConnect', () => {
      const shown = socket.getPeerX509Certificate();
      if (shown === undefined || !shown.raw.equals(certificate.raw))
        return fail(new Error('it shows another certificate than the one that it should have'));
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
  });
}
