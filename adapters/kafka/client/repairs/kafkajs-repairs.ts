// A socket factory of ours → the same one, known to kafkajs 2.2.4 as one whose connections are repaired. Its known defects are all dealt with
// from here; a client with any other socket factory stays as it is.
//
// | defect of kafkajs | its issue | what is done |
// | --- | --- | --- |
// | a timer runs every millisecond as long as a connection lives | #1751, #1704, #1556 | timers only while a throttled request waits |
// | requests are looked at ten times a second, for time-outs | #650 made it so | a timer for each request on its way |
// | time-outs and throttles follow the clock of the wall | | elapsed time |
// | a request that the socket refuses stays on its way for ever, and `disconnect` waits for it | #918 | it fails at once |
// | after a time-out the dead connection is used on, until the system gives it up a quarter of an hour later | #919 | it is made anew |
// | several sockets are opened for one connection at a time, and their bytes mixed up | #715, #1374 | one, and its leftovers go with it |
// | what a socket says late hits the one after it | | only the present one is heard |
// | a connection that timed out while it was made, or was closed by the far side half-way, stays open | | it is destroyed |
// | what is sent while a connection closes is written after its end, or keeps it from closing | #928, #918 | it is refused, and sent on a new one |
// | an unreadable answer ends the process, one of another protocol is waited for as if it were gigabytes | #715 | the connection fails |
// | a connection whose authentication failed is used again | seen as ILLEGAL_SASL_STATE | it is made anew |
// | a connection that breaks off during authentication is told as wrong credentials | | it is told as what it is |
// | a session of less than ten seconds is renewed before each request | | renewed when three quarters are over |
// | a broker that connects and never answers keeps the others of the list from being tried | #368, #919 | each is tried once |
// | whatever a request for metadata fails with, a TypeError comes of it, and of several brokers the first that is away decides | #549 | each is asked, and the failure told |
// | addresses of IPv6 are cut at their first colon | #1589 | they are handed over in another spelling |
// | THROTTLING_QUOTA_EXCEEDED is unknown, and so not worth another try | #1696 | it is known |
// | a refused OAUTHBEARER token is taken for a success | | oauthbearer.ts |
// | one partition without a leader fails the metadata of all | | leaderless-partitions.ts, for sinks |
// | a record for a partition that is gone is dropped, and told as sent | | producer-link.ts looks for its answer |
// | the idempotent producer takes its sequence back after a lost answer, and the next record for a repeat | | producer-link.ts: one request at a time, a new producer after a failure |
// | `disconnect` and aborts wait for answers, and a `send` goes on after both | | socket-gate.ts |
// | errors are wrapped as not retriable, whatever they are | | nobody here asks for `retriable`: see kafka-fault.ts |
import type { ISocketFactory } from 'kafkajs';
import BrokerPool from 'kafkajs/src/cluster/brokerPool.js';
import ConnectionPool from 'kafkajs/src/network/connectionPool.js';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import type { Deps } from '../../../../src/time/clock.ts';
import { RepairedConnection } from './repaired-connection.ts';

type RepairDeps = Pick<Deps, 'elapsedMs' | 'after'>;

const repairs = new WeakMap<ISocketFactory, RepairDeps>();

/** @returns the same factory */
export function repaired(factory: ISocketFactory, deps: RepairDeps): ISocketFactory {
  repairs.set(factory, deps);
  return factory;
}

/** kafkajs takes what is before the first colon for the host: an IPv6 address goes as `[2001.db8..1]`, which the connection reads back. */
export function spelledForKafkajs({ host, port }: { readonly host: string; readonly port: number }): string {
  const isIpv6 = host.includes(':');
  return isIpv6 ? `${new URL(`http://[${host}]`).hostname.replaceAll(':', '.')}:${port}` : `${host}:${port}`;
}

function spelledBack(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1).replaceAll('.', ':') : host;
}

const { getConnection } = ConnectionPool.prototype;
ConnectionPool.prototype.getConnection = async function (index) {
  const deps = repairs.get(this.socketFactory);
  if (deps !== undefined && !(this.pool[0] instanceof RepairedConnection)) {
    this.host = spelledBack(this.host);
    this.pool = this.pool.map((connection) => new RepairedConnection(connection, this.host, deps));
  }
  return await getConnection.call(this, index);
};

const { connect } = BrokerPool.prototype;
BrokerPool.prototype.connect = async function () {
  if (this.hasConnectedBrokers()) return;
  if (!this.seedBroker) await this.createSeedBroker();
  if (!this.seedBroker || !repairs.has(this.seedBroker.connectionPool.socketFactory)) return await connect.call(this);
  for (const tried = new Set<string>(); ; ) {
    const { seedBroker } = this;
    try {
      await seedBroker.connect();
      this.versions = seedBroker.versions;
      return;
    } catch (error) {
      if (!isAboutOneBroker(error)) throw error;
      tried.add(addressOf(seedBroker.connectionPool));
      await this.createSeedBroker();
      if (tried.has(addressOf(this.seedBroker.connectionPool))) throw error;
    }
  }
};

const { withBroker } = BrokerPool.prototype;
BrokerPool.prototype.withBroker = async function (ask) {
  const nodeIds = Object.keys(this.brokers);
  const isOurs = this.seedBroker !== undefined && repairs.has(this.seedBroker.connectionPool.socketFactory);
  if (!isOurs || nodeIds.length === 0) return await withBroker.call(this, ask);
  let failure: unknown;
  for (const nodeId of nodeIds) {
    try {
      return await ask({ nodeId, broker: await this.findBroker({ nodeId }) });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
};

if (!protocolErrors.errorCodes.some(({ code }) => code === 89)) {
  const message = 'The throttling quota has been exceeded';
  protocolErrors.errorCodes.push({ type: 'THROTTLING_QUOTA_EXCEEDED', code: 89, retriable: true, message });
}

function addressOf({ host, port }: ConnectionPool): string {
  return `${spelledBack(host)}:${port}`;
}

/** Others may be well; wrong credentials are wrong everywhere. */
function isAboutOneBroker(error: unknown): boolean {
  const names = ['KafkaJSConnectionError', 'KafkaJSConnectionClosedError', 'KafkaJSRequestTimeoutError'];
  return error instanceof Error && names.includes(error.name);
}
