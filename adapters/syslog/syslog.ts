// The sink type `syslog`: options → an adapter that sends CloudEvents to a syslog server.
import { encodeEach } from '../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { Resolve } from '../../src/net/private-addresses.ts';
import { TlsFiles } from '../../src/net/tls-files.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { type EncodeMessage, messageEncoder } from './message/message-encoder.ts';
import { type SyslogTarget, syslogFault } from './syslog-fault.ts';
import { type SyslogOptions, syslogOptions, tlsFileFaults } from './syslog-options.ts';
import { Datagrams } from './transport/datagrams.ts';
import { Stream } from './transport/stream.ts';
import type { SyslogTransport, TransportParts } from './transport/transport.ts';

/**
 * Several deliveries wait for `settle` at the same time, so that it does not delay the next event. They share the
 * connection.
 */
const IN_FLIGHT = 16;

/** Sends deliveries to one syslog server. Connects at the first delivery. */
export class SyslogAdapter implements Adapter {
  readonly limits: AdapterLimits;
  readonly #target: SyslogTarget;
  readonly #encode: EncodeMessage;
  readonly #transport: SyslogTransport;

  /**
   * @param options the checked options, with their secrets resolved
   * @param resolve replaces the system's name resolution
   * @throws BridgeError BRIDGE_CONFIG_INVALID if a file of `tls` has a fault
   */
  constructor(options: SyslogOptions, deps: AdapterDeps, resolve?: Resolve) {
    const [fault] = tlsFileFaults(options);
    if (fault) throw new BridgeError('BRIDGE_CONFIG_INVALID', `sinks.${deps.name}.${fault.key} ${fault.message}`);
    this.limits = { inFlight: IN_FLIGHT, batch: options.maxBatch, batchBytes: options.maxBatchBytes };
    this.#target = { sink: deps.name, server: options.server };
    this.#encode = messageEncoder(options, deps.name);
    this.#transport = transportOf(options, { target: this.#target, timeoutMs: options.timeout, deps, resolve }, deps);
  }

  /** Connects, TLS included, and sends nothing. Over UDP it only resolves the name, and returns a note that says so. */
  async check(signal: AbortSignal): Promise<string | null> {
    return await this.#withFaults(() => this.#transport.check(signal), signal);
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const { members, refused } = encodeEach(batch, this.#encode, { sink: this.#target.sink, made: 'message' });
    const outcomes: Outcome[] = refused;
    if (members.length === 0) return outcomes;
    const messages = members.map(({ made }) => made);
    const sent = await this.#withFaults(() => this.#transport.send(messages, signal), signal);
    for (const [position, { index }] of members.entries()) outcomes[index] = sent[position] as Outcome;
    return outcomes;
  }

  close(): void {
    this.#transport.close();
  }

  async #withFaults<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw signal.aborted ? signal.reason : syslogFault(error, this.#target);
    }
  }
}

function transportOf(options: SyslogOptions, parts: TransportParts, deps: AdapterDeps): SyslogTransport {
  const { server, tls, framing, settle } = options;
  if (server.transport === 'udp') return new Datagrams(server, parts);
  const owner = { owner: `sinks.${deps.name}`, section: 'tls', code: 'BRIDGE_SYSLOG_TLS' } as const;
  const files = tls === undefined ? null : new TlsFiles(tls, owner, deps);
  const trust = { context: () => files?.context() ?? null, serverName: tls?.serverName };
  return new Stream({ ...parts, tls: trust, framing, settleMs: settle });
}

/** Defines the sink type `syslog`: RFC 5424 messages over TLS, TCP, UDP or a local stream socket. */
export const syslogSink: AdapterDefinition<SyslogOptions> = {
  type: 'syslog',
  options: syslogOptions,
  secretFaults: tlsFileFaults,
  create: (options, deps) => new SyslogAdapter(options, deps),
};
