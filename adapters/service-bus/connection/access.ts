// Options of the way to a namespace → where it is, who we are, and how to connect.
import { statSync } from 'node:fs';
import { AzureCredential, type AzureCredentialDeps } from '../../../src/azure/credential.ts';
import { type AzureCredentialOptions, azureAuthorityOf } from '../../../src/azure/options.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { ProxyServer } from '../../../src/net/proxy-connect.ts';
import { proxyUrl } from '../../../src/net/proxy-url.ts';
import { TlsFiles } from '../../../src/net/tls-files.ts';
import { fileFault, readRegularFile } from '../../../src/secrets/regular-file.ts';
import type { Secret } from '../../../src/secrets/secret.ts';
import { connectionStringFault, type ServiceBusConnectionOptions } from '../options/connection-options.ts';
import { type Endpoint, parseConnectionString, parseEndpoint, showEndpoint } from '../options/connection-string.ts';
import { type Connect, connector, type Transport } from './connector.ts';

/** The file is looked at so often at most, and only when something is to be done. */
const LOOK_AGAIN_MS = 1000;
const HTTPS_PORT = 443;

/** An identity in Microsoft Entra ID, a key by its name, or a shared access signature. */
export type BusCredential =
  | Pick<AzureCredential, 'token'>
  | { readonly name: string; readonly key: string }
  | { readonly signature: string };

/** The same object as long as nothing changed. */
export interface Target {
  readonly endpoint: Endpoint;
  /** False for the emulator alone. */
  readonly isSecure: boolean;
  readonly credential: BusCredential;
}

/** Whose access it is. */
export interface AccessPlace {
  /** `sinks.bus` */
  readonly owner: string;
  /** `sink bus` */
  readonly name: string;
  /** Queue or topic. */
  readonly entity: string;
}

/** Makes the credential of an identity. */
export type CredentialOf = (options: AzureCredentialOptions, deps: AzureCredentialDeps, place: string) => Pick<AzureCredential, 'token'>;

/** Reads and connects to nothing before `target` or `connect`. */
export class Access {
  /** As messages show it: the host, and its port where it is not the usual one. */
  readonly host: string;
  readonly #options: ServiceBusConnectionOptions;
  readonly #place: AccessPlace;
  readonly #deps: AzureCredentialDeps;
  readonly #credentialOf: CredentialOf;
  readonly #tls: TlsFiles | null;
  readonly #proxy: ProxyServer | null;
  #text: string | null;
  #target: Target | null = null;
  #stamp: string | null = null;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #complaint: string | null = null;

  /** The secrets are open. @throws BridgeError BRIDGE_CONFIG_INVALID */
  constructor(options: ServiceBusConnectionOptions, place: AccessPlace, deps: AzureCredentialDeps, credentialOf: CredentialOf = entra) {
    this.#options = options;
    this.#place = place;
    this.#deps = deps;
    this.#credentialOf = credentialOf;
    this.#text = options.connectionString?.reveal() ?? null;
    this.host = showEndpoint(this.#endpoint());
    const tlsPlace = { owner: place.owner, section: 'tls', code: 'BRIDGE_SERVICE_BUS_TLS_FILES' } as const;
    this.#tls = options.tls === undefined ? null : new TlsFiles(options.tls, tlsPlace, deps);
    this.#proxy = options.proxy === undefined ? null : this.#proxyOf(options.proxy);
  }

  /** Where and as whom to connect now. */
  target(): Target {
    const { connectionString } = this.#options;
    if (connectionString?.file != null) this.#look(connectionString.file);
    this.#target ??= this.#made();
    return this.#target;
  }

  /** Connections for AMQP. They throw a BridgeError for `tls` files that cannot be used. */
  connector(target: Target): Connect {
    return this.#connector(target, this.#options.transport, target.endpoint);
  }

  /** Connections to the management interface of the same namespace, which speaks HTTPS. */
  managementConnector(target: Target): Connect {
    const { host, port } = target.endpoint;
    return this.#connector(target, 'amqp', { host, port: (this.#options.transport === 'websocket' ? port : null) ?? HTTPS_PORT });
  }

  #connector({ isSecure }: Target, transport: Transport, endpoint: Endpoint): Connect {
    const trust = () => this.#tls?.context() ?? null;
    const who = `${this.#place.name}: ${showEndpoint(endpoint)}`;
    return connector({ endpoint, transport, isSecure, trust, proxy: this.#proxy, who });
  }

  #endpoint(): Endpoint {
    const { namespace } = this.#options;
    const parsed = this.#text === null ? null : parseConnectionString(this.#text);
    const fault = this.#text === null ? null : this.#faultOf(this.#text);
    if (fault !== null) throw new BridgeError('BRIDGE_CONFIG_INVALID', `${this.#place.owner}.connectionString ${fault}`);
    const endpoint = parsed === null ? parseEndpoint(namespace ?? '') : 'fault' in parsed ? null : parsed.endpoint;
    if (endpoint === null) throw new BridgeError('BRIDGE_CONFIG_INVALID', `${this.#place.owner}.namespace is no host name`);
    return endpoint;
  }

  #made(): Target {
    const endpoint = this.#endpoint();
    const parsed = this.#text === null ? null : parseConnectionString(this.#text);
    if (parsed === null || 'fault' in parsed) {
      const identity = { ...this.#options, ...azureAuthorityOf(endpoint.host) };
      return { endpoint, isSecure: true, credential: this.#credentialOf(identity, this.#deps, this.#place.owner) };
    }
    return { endpoint, isSecure: !parsed.isEmulator, credential: parsed.access };
  }

  /** A file that cannot be used leaves what was read of it before in use, which is logged once. */
  #look(file: string): void {
    const nowMs = this.#deps.elapsedMs();
    if (nowMs - this.#lookedAtMs < LOOK_AGAIN_MS) return;
    this.#lookedAtMs = nowMs;
    try {
      const stamp = stampOf(file);
      if (stamp !== this.#stamp) this.#read(file, stamp);
    } catch (error) {
      this.#complain(`connectionString ${fileFault(error)}`, file);
    }
  }

  #read(file: string, stamp: string): void {
    const text = readRegularFile(file).replace(/\r?\n$/, '');
    const fault = text.trim() === '' ? 'is empty' : this.#faultOf(text);
    if (fault !== null) return void this.#complain(`connectionString ${fault}`, file);
    this.#stamp = stamp;
    this.#complaint = null;
    if (text === this.#text) return;
    this.#text = text;
    this.#target = null;
    this.#deps.logger.info({ file }, 'the connection string changed and was read again');
  }

  #faultOf(text: string): string | null {
    return connectionStringFault(text, { entity: this.#place.entity, transport: this.#options.transport });
  }

  #complain(reason: string, file: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#deps.logger.warn({ reason, file }, 'the file of the connection string cannot be used: what was read of it before stays in use');
  }

  #proxyOf(proxy: string | Secret): ProxyServer {
    const url = proxyUrl(proxy);
    return { url, who: `${this.#place.name}: proxy ${url.protocol}//${url.host}`, trust: () => this.#tls?.context() ?? null };
  }
}

const entra: CredentialOf = (options, deps, place) => new AzureCredential(options, deps, place);

/** Changes when the file is written or another one takes its place. */
function stampOf(path: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
