// What the operators' routes ask of the bridge. Types alone.
import type { DeadLetterPage, DeadLetterRange, JournalPage, JournalRange, SinkView } from '../../model/operators.ts';

/** @throws BridgeError BRIDGE_STORE_*, each of them; then nothing is done. */
export interface Operations {
  sinks(): readonly SinkView[];
  /** Null: there is no such sink. @param by the admin's name, for the log and the record, as below */
  pause(sink: string, by: string): Promise<SinkView | null>;
  resume(sink: string, by: string): Promise<SinkView | null>;
  deadLetters(range: DeadLetterRange): DeadLetterPage;
  /** All or none: how many; or which ids are no dead letters of the sink; null: there is no such sink. */
  decide(act: 'retry' | 'discard', sink: string, ids: readonly string[], by: string): number | readonly string[] | null;
  journal(range: JournalRange): JournalPage;
}

export interface OperatorPorts {
  readonly operations: Operations;
}
