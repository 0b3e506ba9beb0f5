// A server and its certificate → a TLS connection to exactly this server, nothing sent yet.
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { hostOf } from './http-exchange.ts';

/**
 * Opens a connection that trusts only this certificate. Its key identifies the server, so CA, name and dates are not
 * checked. Rejects if the server shows another certificate, with the signal's reason, or with Node's error.
 */
export function connectPinned(url: URL, certificate: X509Certificate, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    // The check after the handshake is safe: nothing is queued for sending before `resolve`.
    const target = { host: hostOf(url), port: Number(url.port || 443), rejectUnauthorized: false };
    const socket = process.getBuiltinModule('node:tls').connect(target);
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', abort);
      reject(error);
      socket.destroy();
    };
    const abort = () => fail(signal.reason);
    signal.addEventListener('abort', abort);
    // This listener stays: without it, a connection that breaks before its first use would end the process.
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the connection was closed before it was open')));
    socket.once('secureConnect', () => {
      const peerCertificate = socket.getPeerX509Certificate();
      if (peerCertificate === undefined || !peerCertificate.raw.equals(certificate.raw))
        return fail(new Error('the server shows a certificate other than the pinned one'));
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
  });
}
