// Requests to a metadata service and its answers → what the recorder wrote of them.
import type { SimRequest } from '../../src/simulator/answer.ts';
import { Recorder } from '../../src/simulator/recording/recorder.ts';
import type { RecordedDocument, RecordingLine } from '../../src/simulator/recording/recording.ts';
import type { UpstreamAnswer } from '../../src/simulator/recording/upstream.ts';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';

export const START_MS = Date.UTC(2026, 10, 21, 14);

export type RecordedEvent = RecordedDocument['Events'][number];

/** The event of the documentation's example (protocol 5.12), with other fields. */
export const eventOf = (fields: Partial<RecordedEvent> = {}): RecordedEvent => ({ ...EXAMPLE_EVENT, ...fields });

export const documentOf = (incarnation: number, ...events: readonly RecordedEvent[]): RecordedDocument => ({
  DocumentIncarnation: incarnation,
  Events: events,
});

export function get(apiVersion = '2020-07-01', headers: SimRequest['headers'] = { Metadata: 'true' }): SimRequest {
  return { method: 'GET', url: `/metadata/scheduledevents?api-version=${apiVersion}`, headers, body: new Uint8Array() };
}

export function post(body: string): SimRequest {
  return { ...get(), method: 'POST', body: new TextEncoder().encode(body) };
}

export function answer(status: number, body: unknown = '', rest: Partial<UpstreamAnswer> = {}): UpstreamAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: {}, body: new TextEncoder().encode(text), ...rest };
}

/** A recorder that keeps its lines, each a second after the one before it. */
export class RecorderFixture {
  readonly lines: RecordingLine[] = [];
  readonly recorder = new Recorder((line) => this.lines.push(line), START_MS);
  #seconds = 0;

  record(request: SimRequest, given: UpstreamAnswer, vm?: string): this {
    this.#seconds++;
    this.recorder.record(request, given, START_MS + this.#seconds * 1000, vm);
    return this;
  }

  /** What each line says, without when and of whom. */
  said(): readonly unknown[] {
    return this.lines.map(({ at: _, vm: __, apiVersion: ___, ...said }) => said);
  }
}
