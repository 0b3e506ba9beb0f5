// A number of brokers → a Kafka cluster on loopback, gone with the test or its process.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Broker } from './broker.ts';
import { showWhereFailed } from './broker-log.ts';
import { runTool } from './distribution.ts';
import { PortBlock } from './ports.ts';
import { createTopic, knowsTopic, type TopicOptions } from './requests.ts';
import { type Certificates, issueCertificates, scramArguments } from './security.ts';
import { dataOf, type Listener, type Place, type PropertiesOptions, serverProperties } from './server-properties.ts';

export interface ClusterOptions extends Omit<PropertiesOptions, 'certificates'> {
  /** 1 by default; 3 for leaders that move. */
  readonly brokers?: 1 | 3;
  /** Whether it has all listeners and users, and rules on what they may do; PLAINTEXT alone by default. */
  readonly secure?: boolean;
}

/** 22 characters, as Kafka wants it. */
const CLUSTER_ID = 'c2NoZWR1bGVkLWV2ZW50cw';
/** What a formatted disk holds. */
const META = 'meta.properties';
const BOOTSTRAP = 'bootstrap.checkpoint';

// Ends when the pipe from this process closes: the processes named in the folder are killed, and the folder goes.
const WATCH = `cat >/dev/null
for pid in "$1"/*/pid; do [ -f "$pid" ] && kill -9 "$(cat "$pid")"; done
rm -rf "$1" || { sleep 1; rm -rf "$1"; }`;

export class Cluster implements AsyncDisposable {
  readonly brokers: readonly Broker[];
  /** Of a secure one. */
  readonly certificates: Certificates | undefined;
  readonly #ports: readonly PortBlock[];
  readonly #watch: ChildProcess;
  #disposed: Promise<void> | undefined;

  private constructor(places: readonly Place[], watch: ChildProcess, certificates: Certificates | undefined) {
    this.brokers = places.map((place) => new Broker(place));
    this.#ports = places.map(({ ports }) => ports);
    this.#watch = watch;
    this.certificates = certificates;
  }

  /** For one test, which shows the ends of its logs when it fails; all brokers answer. */
  static async start(t: TestContext, options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = await Cluster.launch(options);
    t.after(async () => {
      for (const broker of cluster.brokers) showWhereFailed(t, `broker ${broker.nodeId}`, broker.logFile);
      await cluster[Symbol.asyncDispose]();
    });
    return cluster;
  }

  /** Until it is disposed of, or this process ends. */
  static async launch(options: ClusterOptions = {}): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), 'bridge-kafka-'));
    const watch = spawn('sh', ['-c', WATCH, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    watch.unref();
    (watch.stdin as unknown as { unref(): void }).unref();
    const certificates = options.secure ? await issueCertificates(folder) : undefined;
    const nodeIds = Array.from({ length: options.brokers ?? 1 }, (_, index) => index + 1);
    const places = await Promise.all(
      nodeIds.map(async (nodeId) => ({
        nodeId,
        folder: join(folder, `node-${nodeId}`),
        ports: await PortBlock.claim(),
      })),
    );
    const cluster = new Cluster(places, watch, certificates);
    try {
      await format(places, (place) => serverProperties(place, places, { ...options, certificates }));
      // One by one, so that none is on its way when another one fails.
      for (const broker of cluster.brokers) await broker.launch();
      await Promise.all(cluster.brokers.map((broker) => broker.answers(nodeIds.length)));
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** `host:port` of each broker. */
  addresses(listener: Listener = 'PLAINTEXT'): string[] {
    return this.brokers.map((broker) => broker.address(listener));
  }

  /** @throws where there is none */
  broker(nodeId: number): Broker {
    const broker = this.brokers.find((broker) => broker.nodeId === nodeId);
    if (!broker) throw new Error(`there is no broker ${nodeId}`);
    return broker;
  }

  /** Resolves once all brokers that run tell clients of it. */
  async createTopic(name: string, options?: TopicOptions): Promise<void> {
    const [first, ...others] = this.brokers.filter(({ pid }) => pid).map((broker) => broker.address());
    if (first === undefined) throw new Error('no broker runs');
    await createTopic(first, name, options);
    await Promise.all(others.map((address) => knowsTopic(address, name)));
  }

  /** Kills what still runs; its data goes. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  async #dispose(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.kill()));
    this.#watch.ref();
    const gone = once(this.#watch, 'exit');
    this.#watch.stdin?.end();
    await gone;
    for (const ports of this.#ports) ports[Symbol.dispose]();
  }
}

/** All of them alike, by one run of the tool, which takes a second of a processor. */
async function format(places: readonly Place[], propertiesOf: (place: Place) => string): Promise<void> {
  const file = (place: Place) => join(place.folder, 'server.properties');
  for (const place of places) {
    await mkdir(place.folder);
    await writeFile(file(place), propertiesOf(place));
  }
  const [first, ...others] = places;
  if (first === undefined) return;
  // Users enter the cluster with the storage of whoever leads first.
  await runTool('kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', file(first), ...scramArguments());
  const meta = await readFile(join(dataOf(first), META), 'utf8');
  for (const place of others) {
    await mkdir(dataOf(place));
    await copyFile(join(dataOf(first), BOOTSTRAP), join(dataOf(place), BOOTSTRAP));
    const own = meta
      .replace(/^node\.id=.*$/m, `node.id=${place.nodeId}`)
      .replace(/^directory\.id=.*$/m, `directory.id=${randomBytes(16).toString('base64url')}`);
    await writeFile(join(dataOf(place), META), own);
  }
}
