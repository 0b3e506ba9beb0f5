// The sink type `splunk`: options → an adapter that posts to an HTTP Event Collector.
import { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { AdapterDefinition, AdapterDeps, Outcome } from '../adapter.ts';
import { type RequestAuthorization, secretAuthorization } from '../http/authorization.ts';
import { type HttpSinkKind, httpSink, type SinkContext, type SinkRequest } from '../http/http-sink.ts';
import { Acknowledgement } from './acknowledgement.ts';
import { collectorFault, NO_DATA, readAnswer } from './collector-answer.ts';
import { type EncodeEvents, eventEncoder } from './event-encoder.ts';
import { collectorBase, type SplunkOptions, splunkOptions, tokenFaults } from './splunk-options.ts';

const PATH = '/services/collector/event';

/** Posts events. With `acknowledge`, waits until they are indexed. */
class EventCollector implements HttpSinkKind {
  readonly inFlight = 4;
  /** The body has the attributes twice: in the event and in its fields. */
  readonly growth = 2;
  readonly base = collectorBase;
  readonly credentials = 'token';
  readonly authorization: RequestAuthorization;
  readonly #encode: EncodeEvents;
  readonly gzip: boolean;
  /** Null if code 0 counts as accepted. */
  readonly #acknowledgement: Acknowledgement | null;

  constructor(options: SplunkOptions, deps: AdapterDeps) {
    this.authorization = secretAuthorization([['token', options.token]], ([token]) => `Splunk ${token}`, deps);
    this.#encode = eventEncoder(options);
    this.gzip = options.compression === 'gzip';
    this.#acknowledgement = options.acknowledge ? new Acknowledgement(deps) : null;
  }

  async before(context: SinkContext): Promise<void> {
    await this.#acknowledgement?.confirm(context);
  }

  encode(batch: readonly Delivery[]): SinkRequest {
    return { ...this.#request(this.#encode(batch)), gzip: this.gzip };
  }

  async judge(answer: HttpAnswer, batch: readonly Delivery[], context: SinkContext): Promise<readonly Outcome[]> {
    const fault = collectorFault(answer, context.faults, batch.length === 1);
    if (fault === null) {
      await this.#acknowledgement?.wait(readAnswer(answer).ackId, context);
      return batch.map(() => 'accepted');
    }
    const position = readAnswer(answer).invalidEvent ?? -1;
    const suspect = batch[position];
    if (fault.disposition !== 'refused' || batch.length === 1 || suspect === undefined) throw fault;
    const outcome = await this.#sendAlone(suspect, context);
    return batch.map((_, index) => (index === position ? outcome : fault));
  }

  /**
   * Posts an empty body. The collector rejects it as empty, or accepts it, only if token and channel are valid and it
   * accepts events. The body is never compressed, because it would then not be empty.
   */
  async check(context: SinkContext): Promise<null> {
    const answer = await context.post(this.#request(''));
    const fault = collectorFault(answer, context.faults, false);
    if (fault !== null && readAnswer(answer).code !== NO_DATA) throw fault;
    await this.#acknowledgement?.confirm(context);
    return null;
  }

  /**
   * Sends the event that the answer names alone. Not all releases count from 0, so the number may mean another event.
   */
  async #sendAlone(delivery: Delivery, context: SinkContext): Promise<Outcome> {
    try {
      const [outcome] = await this.judge(await context.post(this.encode([delivery])), [delivery], context);
      return outcome ?? 'accepted';
    } catch (error) {
      if (error instanceof BridgeError && error.disposition === 'refused') return error;
      throw error;
    }
  }

  #request(body: Uint8Array | string): SinkRequest {
    return { path: PATH, headers: { 'content-type': 'application/json', ...this.#acknowledgement?.headers }, body };
  }
}

export const splunkSink: AdapterDefinition<SplunkOptions> = httpSink({
  type: 'splunk',
  options: splunkOptions,
  secretFaults: tokenFaults,
  make: (options, deps) => new EventCollector(options, deps),
});
