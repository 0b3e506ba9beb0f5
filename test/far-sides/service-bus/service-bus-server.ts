// Entities and a fault script → a Service Bus namespace in this process, on loopback.
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { poll } from '../../support/poll.ts';
import type { AccessKey, JwtCheck } from './access-keys.ts';
import type { Broker } from './broker.ts';
import { BrokerClock, milliseconds } from './broker-clock.ts';
import type { Contact } from './contacts.ts';
import type { EntityStatus, Queue, QueueOptions, SendOptions, Topic } from './entities.ts';
import { FaultScript, type Refusal } from './fault-script.ts';
import { Listener, type ServerCertificate } from './listener.ts';
import { Namespace } from './namespace.ts';
import { type ConditionName, serviceFault } from './service-faults.ts';

export interface ServiceBusServerOptions {
  /**
   * Default `amqp`: AMQP over TCP. `websocket`: the port speaks HTTP, takes AMQP over WebSockets, and describes
   * entities.
   */
  readonly transport?: 'amqp' | 'websocket';
  /** With it the port speaks TLS. */
  readonly tls?: ServerCertificate;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Of one transfer, in bytes; default 262144. */
  readonly maxMessageSize?: number;
  /** How long a link may do nothing; default 10m, as the service has it. */
  readonly linkIdle?: string | number;
  /** What an Entra token allows; by default any token may send and listen. */
  readonly checkJwt?: JwtCheck;
}

/** How long clients may take to close at the end. */
const PATIENCE_MS = 1000;
const KEY_NAME = 'RootManageSharedAccessKey';
const KEY = 'dGhlIGtleSBvZiBhIG5hbWVzcGFjZSBpbiBhIHRlc3Q=';

/** Starts a server that goes with the test. */
export async function serviceBusServer(
  t: TestContext,
  options: ServiceBusServerOptions = {},
): Promise<ServiceBusServer> {
  const server = new ServiceBusServer(options);
  await server.comeBack();
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

export class ServiceBusServer implements AsyncDisposable {
  readonly faults: FaultScript;
  readonly clock = new BrokerClock();
  readonly #broker: Broker;
  readonly #listener: Listener;
  readonly #options: ServiceBusServerOptions;
  readonly #clients: (() => unknown)[] = [];

  constructor(options: ServiceBusServerOptions = {}) {
    const { transport = 'amqp', tls, host = '127.0.0.1', maxMessageSize = 262_144, linkIdle = '10m' } = options;
    this.#options = options;
    this.faults = new FaultScript(this.clock);
    this.#broker = {
      namespace: new Namespace(this.clock),
      clock: this.clock,
      faults: this.faults,
      contacts: [],
      keys: new Map<string, AccessKey>([[KEY_NAME, { key: KEY, claims: ['Send', 'Listen', 'Manage'] }]]),
      checkJwt: options.checkJwt ?? (() => ['Send', 'Listen']),
      maxMessageSize,
      linkIdleMs: milliseconds(linkIdle),
      protocolErrors: [],
    };
    this.#listener = new Listener(this.#broker, { host, transport, ...(tls ? { tls } : {}) });
  }

  get port(): number {
    return this.#listener.port;
  }

  /** `host:port`, as a client with a token credential is given it. */
  get address(): string {
    return `${this.#options.host ?? '127.0.0.1'}:${this.port}`;
  }

  /** With UseDevelopmentEmulator where the port speaks plain TCP. */
  get connectionString(): string {
    return this.connectionStringFor(KEY_NAME);
  }

  /** The same with another key. @throws Error where no key has the name */
  connectionStringFor(keyName: string): string {
    const key = this.#broker.keys.get(keyName);
    if (!key) throw new Error(`no key ${keyName}`);
    const plain = this.#options.tls || this.#options.transport === 'websocket' ? '' : ';UseDevelopmentEmulator=true';
    return `Endpoint=sb://${this.address};SharedAccessKeyName=${keyName};SharedAccessKey=${key.key}${plain}`;
  }

  /** Adds a key, changes one, or takes it away with null. */
  key(name: string, key: AccessKey | null): void {
    if (key) this.#broker.keys.set(name, key);
    else this.#broker.keys.delete(name);
  }

  set checkJwt(check: JwtCheck) {
    this.#broker.checkJwt = check;
  }

  /** Bytes of one transfer; links that are attached already keep what they were told. */
  set maxMessageSize(bytes: number) {
    this.#broker.maxMessageSize = bytes;
  }

  /** The queue of this name, made on first use. */
  queue(name: string, options?: QueueOptions): Queue {
    return this.#broker.namespace.queue(name, options);
  }

  /** The topic of this name, made on first use. */
  topic(name: string, options?: SendOptions): Topic {
    return this.#broker.namespace.topic(name, options);
  }

  /** Deletes an entity with its messages, and detaches its links. */
  delete(name: string): void {
    this.#broker.namespace.delete(name);
    this.detachLinks('notFound', name);
  }

  /** Disables an entity, or part of it, or enables it again; the links that this concerns are detached. */
  setStatus(name: string, status: EntityStatus): void {
    const entity = this.#broker.namespace.target(name);
    if (!entity) throw new Error(`no entity ${name}`);
    entity.status = status;
    if (status !== 'active') this.detachLinks('disabled', name);
  }

  /** What clients did, in order. */
  contacts<What extends Contact['what']>(...what: readonly What[]): Extract<Contact, { what: What }>[] {
    const wanted: readonly string[] = what;
    return this.#broker.contacts.filter(
      (contact): contact is Extract<Contact, { what: What }> => wanted.length === 0 || wanted.includes(contact.what),
    );
  }

  /** Whatever broke the protocol; empty in a good test. */
  get protocolErrors(): readonly Error[] {
    return this.#broker.protocolErrors;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#listener.connections.size;
  }

  /**
   * Links to entities, until their session has ended, as the SDK does for each; those of tokens and management do not
   * count.
   */
  get links(): number {
    return [...this.#listener.connections.values()].reduce((sum, connection) => sum + connection.links, 0);
  }

  /** Receivers that would get a message now. */
  get waiting(): number {
    return [...this.#listener.connections.values()].reduce((sum, connection) => sum + connection.waiting, 0);
  }

  /** Resolves once `holds`. */
  async until(holds: () => boolean, what: string): Promise<void> {
    await poll(holds, what);
  }

  /** Closes the port and cuts every connection; messages, locks and faults stay. */
  async leave(): Promise<void> {
    await this.#listener.stop();
  }

  /** Listens again on the same port. */
  async comeBack(): Promise<void> {
    await this.#listener.start();
  }

  /** Destroys every socket; the port stays open. */
  cutConnections(): void {
    this.#listener.cut();
  }

  /** From now on connections are taken and nothing is answered on them, until `false`. */
  set silent(silent: boolean) {
    this.#listener.silent = silent;
  }

  /** Closes every connection with an AMQP error; by default as the service does after five minutes without a link. */
  closeConnections(name: ConditionName = 'connectionForced'): void {
    for (const connection of this.#listener.connections.values())
      connection.close(serviceFault(name, { namespace: this.address, path: '' }));
  }

  /** Detaches links with an error; by default as the service does after ten idle minutes. */
  detachLinks(refusal: Refusal = 'detachForced', entity?: string): void {
    for (const connection of this.#listener.connections.values()) connection.detach(refusal, entity);
  }

  /** Every token runs out: the links that lived on them are detached as the service does it. */
  expireTokens(): void {
    for (const connection of this.#listener.connections.values()) connection.expireTokens();
  }

  /** Answers, late, the put-tokens that a fault left without an answer. */
  answerHeldTokens(): void {
    for (const connection of this.#listener.connections.values()) connection.answerHeldTokens();
  }

  /** Ends `faults.withholdCredit`. */
  grantCredit(): void {
    this.faults.withholdCredit = false;
    for (const connection of this.#listener.connections.values()) connection.grantCredit();
  }

  /**
   * Calls `close` before the server goes: the SDK's own close may never return once it has gone. It is waited for, but
   * not for long.
   */
  closeFirst(close: () => unknown): void {
    this.#clients.push(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.faults.clear();
    this.answerHeldTokens();
    const closed = Promise.allSettled(this.#clients.map(async (close) => close()));
    const patience = new AbortController();
    await Promise.race([closed, setTimeout(PATIENCE_MS, null, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    await this.leave();
    this.clock[Symbol.dispose]();
  }
}
