// A test file → the Kafka of this run: global-setup.ts's, one of its own, or KAFKA_BROKERS'.
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { poll } from '../../support/poll.ts';
import { showWhereFailed } from './broker-log.ts';
import { Cluster } from './cluster.ts';
import { noDistribution } from './distribution.ts';
import { noReader } from './records.ts';
import { createTopic, deleteTopic, deny, type Rule, type TopicOptions } from './requests.ts';
import type { Certificates } from './security.ts';
import type { Listener } from './server-properties.ts';

/** Names the file in which the shared broker is told to the processes of the tests. */
export const SHARED_KAFKA = 'SCHEDULED_EVENTS_BRIDGE_SHARED_KAFKA';

/** What that file holds once the broker answers, or why there will be none. */
export type SharedState = SharedBroker | { readonly failure: string };

export interface SharedBroker {
  readonly listeners: Readonly<Record<Listener, readonly string[]>>;
  readonly certificates: Certificates;
  readonly logFile: string;
}

/** For the `skip` of a test that needs Kafka: false, or the reason. @throws instead with REQUIRE_KAFKA, as in CI */
export const withoutKafka: string | false = orRequired(
  (!process.env['KAFKA_BROKERS'] && noDistribution()) || noReader(),
);

/** The same for a test that needs a broker of ours: its listeners, users and rules, or a cluster of the test's own. */
export const withoutOurKafka: string | false = process.env['KAFKA_BROKERS']
  ? orRequired('KAFKA_BROKERS names a broker whose other listeners, users and processes are unknown')
  : withoutKafka;

let own: Promise<SharedBroker> | undefined;
let made = 0;

/** The shared Kafka in the hands of one test. */
export class Kafka {
  /** `host:port` of the brokers, where everybody may do everything without a name. */
  readonly brokers: readonly string[];
  readonly #t: TestContext;
  readonly #shared: SharedBroker | undefined;

  constructor(t: TestContext, brokers: readonly string[], shared?: SharedBroker) {
    this.#t = t;
    this.brokers = brokers;
    this.#shared = shared;
  }

  /** `host:port` of each broker. @throws at somebody's own broker, which `withoutOurKafka` skips */
  listener(name: Listener): readonly string[] {
    return this.#ours.listeners[name];
  }

  /** @throws as `listener` does */
  get certificates(): Certificates {
    return this.#ours.certificates;
  }

  /** A name that nobody else in any test run has, for a topic, a group, a client. */
  uniqueName(word: string): string {
    made += 1;
    return `${word}-${process.pid}-${made}-${Math.random().toString(36).slice(2, 8)}`;
  }

  /** A new one. @returns its name */
  async createTopic(options: TopicOptions = {}): Promise<string> {
    const name = this.uniqueName('topic');
    await createTopic(this.address, name, options);
    // Ours goes as a whole.
    if (!this.#shared) this.#t.after(() => deleteTopic(this.address, name));
    return name;
  }

  /** Forbids it for good: let the name be a unique one. @throws as `listener` does */
  async deny(rule: Rule): Promise<void> {
    await deny(this.listener('PLAINTEXT')[0] ?? '', rule);
  }

  /** Of one broker. */
  get address(): string {
    const [address] = this.brokers;
    if (address === undefined) throw new Error('KAFKA_BROKERS names no broker');
    return address;
  }

  get #ours(): SharedBroker {
    if (!this.#shared) throw new Error('this test needs a broker of ours: give withoutOurKafka as its skip');
    return this.#shared;
  }
}

/**
 * For a test whose `skip` is one of the above; waits until the broker answers, and shows the end of its log if the test
 * fails.
 */
export async function sharedKafka(t: TestContext): Promise<Kafka> {
  const somebodys = process.env['KAFKA_BROKERS'];
  if (somebodys) return new Kafka(t, somebodys.split(/ *, */));
  const file = process.env[SHARED_KAFKA];
  own ??= file ? told(file) : launchShared().then(({ shared }) => shared);
  const shared = await own;
  t.after(() => showWhereFailed(t, 'the shared broker', shared.logFile));
  return new Kafka(t, shared.listeners.PLAINTEXT, shared);
}

/** Its broker ends with this process, or with the cluster. */
export async function launchShared(): Promise<{ readonly cluster: Cluster; readonly shared: SharedBroker }> {
  // It is never started again, so its session may last longer than a machine under load stands still.
  const properties = { 'broker.session.timeout.ms': '30000', 'broker.heartbeat.interval.ms': '2000' };
  const cluster = await Cluster.launch({ secure: true, properties });
  const { certificates } = cluster;
  if (!certificates) throw new Error('a secure cluster has certificates');
  const names: readonly Listener[] = ['PLAINTEXT', 'TLS', 'MTLS', 'SASL', 'SASL_TLS'];
  const listeners = Object.fromEntries(names.map((name) => [name, cluster.addresses(name)])) as Record<
    Listener,
    string[]
  >;
  return { cluster, shared: { listeners, certificates, logFile: cluster.broker(1).logFile } };
}

async function told(file: string): Promise<SharedBroker> {
  const written = async (): Promise<boolean> => existsSync(file) || (await pause());
  await poll(written, 'the shared broker', 100_000);
  const state = JSON.parse(readFileSync(file, 'utf8')) as SharedState;
  if ('failure' in state) throw new Error(`the shared broker did not start: ${state.failure}`);
  return state;
}

async function pause(): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  return false;
}

function orRequired(reason: string | false): string | false {
  if (reason && process.env['REQUIRE_KAFKA']) throw new Error(`${reason}; REQUIRE_KAFKA is set`);
  return reason;
}
