// What the operators' routes need of the bridge: types only.
import type { DeadLetterPage, DeadLetterRange, JournalPage, JournalRange, SinkView } from '../../model/operators.ts';

/** Each throws BridgeError BRIDGE_STORE_* if the store fails; then nothing is done. */
export interface OperatorActions {
  sinks(): readonly SinkView[];
  /** Resolves with null if there is no such sink. @param by the admin's name, for the log and the record, as below */
  pause(sink: string, by: string): Promise<SinkView | null>;
  resume(sink: string, by: string): Promise<SinkView | null>;
  deadLetters(range: DeadLetterRange): DeadLetterPage;
  /** Does all or nothing. Returns how many, the ids that are not dead letters of the sink, or null if there is no such sink. */
  decide(act: 'retry' | 'discard', sink: string, ids: readonly string[], by: string): number | readonly string[] | null;
  journal(range: JournalRange): JournalPage;
}

export interface OperatorPorts {
  readonly operations: OperatorActions;
}
