// The connection options of a namespace → its endpoint, credential and connections.
import { AzureCredential, type AzureCredentialDeps } from '../../../src/azure/credential.ts';
import { type AzureCredentialOptions, azureAuthorityOf } from '../../../src/azure/options.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { ProxyServer } from '../../../src/net/proxy-connect.ts';
import { proxyUrl } from '../../../src/net/proxy-url.ts';
import { TlsFiles } from '../../../src/net/tls-files.ts';
import type { Secret } from '../../../src/secrets/secret.ts';
import { type FileText, WatchedFile } from '../../../src/secrets/watched-file.ts';
import { connectionStringFor, type ServiceBusConnectionOptions } from '../options/connection-options.ts';
import { type NamespaceEndpoint, parseEndpoint, showEndpoint } from '../options/connection-string.ts';
import { type AmqpTransport, type Connect, connector } from './connector.ts';

const HTTPS_PORT = 443;

/** An identity in Microsoft Entra ID, a key with its name, or a shared access signature. */
export type BusCredential =
  | Pick<AzureCredential, 'token'>
  | { readonly name: string; readonly key: string }
  | { readonly signature: string };

/** An endpoint with its credential; the same object until it changes. */
export interface Target {
  readonly endpoint: NamespaceEndpoint;
  /** False only for the emulator. */
  readonly isSecure: boolean;
  readonly credential: BusCredential;
}

/** The sink or source of an access. */
interface AccessPlace {
  /** `sinks.bus` */
  readonly owner: string;
  /** `sink bus` */
  readonly name: string;
  /** Queue or topic. */
  readonly entity: string;
}

/** Creates the credential of an identity. */
export type CredentialOf = (
  options: AzureCredentialOptions,
  deps: AzureCredentialDeps,
  place: string,
) => Pick<AzureCredential, 'token'>;

/** The text of the connection string, null without one, and its target. */
interface Known {
  readonly text: string | null;
  readonly target: Target;
}

/** Reads no file and opens no connection before `target` or a connector is called. */
export class NamespaceAccess {
  /** The host for messages, with its port if it is not the default. */
  readonly host: string;
  readonly #options: ServiceBusConnectionOptions;
  readonly #place: AccessPlace;
  readonly #deps: AzureCredentialDeps;
  readonly #tls: TlsFiles | null;
  readonly #proxy: ProxyServer | null;
  readonly #known: WatchedFile<Known>;

  /** The secrets must be open. @throws BridgeError BRIDGE_CONFIG_INVALID */
  constructor(
    options: ServiceBusConnectionOptions,
    place: AccessPlace,
    deps: AzureCredentialDeps,
    credentialOf: CredentialOf = entra,
  ) {
    this.#options = options;
    this.#place = place;
    this.#deps = deps;
    const known =
      options.connectionString === undefined
        ? this.#ofIdentity(credentialOf)
        : this.#ofString(options.connectionString.reveal());
    this.host = showEndpoint(known.target.endpoint);
    this.#known = this.#watched(options.connectionString?.file ?? null, known);
    const tlsPlace = { owner: place.owner, section: 'tls', code: 'BRIDGE_SERVICE_BUS_TLS_FILES' } as const;
    this.#tls = options.tls === undefined ? null : new TlsFiles(options.tls, tlsPlace, deps);
    this.#proxy = options.proxy === undefined ? null : this.#proxyOf(options.proxy);
  }

  /** Returns the current endpoint and credential. */
  target(): Target {
    return this.#known.current().target;
  }

  /** Returns connections for AMQP. They throw a BridgeError if the `tls` files are unusable. */
  connector(target: Target): Connect {
    return this.#connector(target, this.#options.transport, target.endpoint);
  }

  /** Returns connections to the namespace's management interface, which uses HTTPS. */
  managementConnector(target: Target): Connect {
    const { host, port } = target.endpoint;
    return this.#connector(target, 'amqp', {
      host,
      port: (this.#options.transport === 'websocket' ? port : null) ?? HTTPS_PORT,
    });
  }

  #connector({ isSecure }: Target, transport: AmqpTransport, endpoint: NamespaceEndpoint): Connect {
    const trust = () => this.#tls?.context() ?? null;
    const who = `${this.#place.name}: ${showEndpoint(endpoint)}`;
    return connector({ endpoint, transport, isSecure, trust, proxy: this.#proxy, who });
  }

  #ofIdentity(credentialOf: CredentialOf): Known {
    const endpoint = parseEndpoint(this.#options.namespace ?? '');
    if (endpoint === null) throw this.#invalid('namespace is not a host name');
    const identity = { ...this.#options, ...azureAuthorityOf(endpoint.host) };
    return {
      text: null,
      target: { endpoint, isSecure: true, credential: credentialOf(identity, this.#deps, this.#place.owner) },
    };
  }

  #ofString(text: string): Known {
    const read = connectionStringFor(text, { entity: this.#place.entity, transport: this.#options.transport });
    if ('fault' in read) throw this.#invalid(`connectionString ${read.fault}`);
    const { endpoint, isEmulator, access } = read;
    return { text, target: { endpoint, isSecure: !isEmulator, credential: access } };
  }

  /** Watches the file. If it is unusable, the previous connection string stays in use, which is logged once. */
  #watched(file: string | null, initial: Known): WatchedFile<Known> {
    const { logger } = this.#deps;
    const parts = {
      initial: () => initial,
      parse: ([read]: readonly FileText[], before: Known | null) => this.#reread(read, before),
      onChanged: () => logger.info({ file }, 'the connection string changed and was read again'),
      onUnusable: (reason: string) =>
        logger.warn(
          { reason, file },
          'the file of the connection string is unusable: the previous connection string stays in use',
        ),
    };
    return new WatchedFile(file === null ? [] : [file], parts, this.#deps);
  }

  #reread(file: FileText | undefined, before: Known | null): Known {
    if (file === undefined || 'fault' in file) throw this.#invalid(`connectionString ${file?.fault}`);
    if (file.text.trim() === '') throw this.#invalid('connectionString is empty');
    return file.text === before?.text ? before : this.#ofString(file.text);
  }

  #invalid(what: string): BridgeError {
    return new BridgeError('BRIDGE_CONFIG_INVALID', `${this.#place.owner}.${what}`);
  }

  #proxyOf(proxy: string | Secret): ProxyServer {
    const url = proxyUrl(proxy);
    return {
      url,
      who: `${this.#place.name}: proxy ${url.protocol}//${url.host}`,
      trust: () => this.#tls?.context() ?? null,
    };
  }
}

const entra: CredentialOf = (options, deps, place) => new AzureCredential(options, deps, place);
