// A recording → the script that plays its documents and unexpected answers at their times.
import { basename } from 'node:path';
import { toRfc3339Seconds } from '../../formats/dates.ts';
import { UNDERSCORE_VERSION } from '../../model/api-versions.ts';
import type { WireEvent } from '../events/event.ts';
import type { OrderedFault } from '../events/faults.ts';
import type { Action, Script, ScriptStep } from '../script/script.ts';
import { type ReadLine, type ReadRecording, readRecording } from './read-recording.ts';
import type { RecordedAnswer, RecordedDocument } from './recording.ts';

/** The duration of a last unexpected answer, which ends only when the faults are cleared. */
const UNLIMITED_MS = 100 * 365 * 86_400_000;

/** Not empty, because clients read an empty 200 as a document without events. */
const MISSING_BODY = 'The recording has no body for this answer.';

/**
 * Reads the recording of `--replay FILE`; the script has the file's name.
 * @throws BridgeError BRIDGE_SIMULATOR_RECORDING if the file cannot be read or has faults
 */
export async function scriptOfRecording(path: string): Promise<Script> {
  return toScript(await readRecording(path), basename(path));
}

/**
 * Converts a recording to a script. Of several machines it plays the first one, since the others differ by at most one
 * poll. Of several api-versions it plays the newest that has a document. It does not play POSTs: the documents show
 * their effects.
 */
export function toScript({ startedAtMs, lines, anonymised, isCut }: ReadRecording, name: string): Script {
  const played = onlyOneView(lines);
  const steps: ScriptStep[] = [];
  let last = '';
  for (const [index, { afterMs, apiVersion, content }] of played.entries()) {
    if (content.kind === 'answer') {
      const next = played[index + 1];
      const forMs = next ? next.afterMs - afterMs : UNLIMITED_MS;
      if (forMs > 0) steps.push({ afterMs, action: { kind: 'fault', orders: [toFault(content.answer, forMs)] } });
    } else if (content.kind === 'document') {
      const action = toDocument(content.document, apiVersion);
      // Other tools' captures can have a line for every poll.
      const rendered = JSON.stringify(action);
      if (rendered !== last) steps.push({ afterMs, action });
      last = rendered;
    }
  }
  const purpose = [
    startedAtMs === null
      ? 'a capture without times'
      : `the answers of a metadata service from ${toRfc3339Seconds(startedAtMs)} on`,
    ...(anonymised ? ['anonymised'] : []),
    ...(isCut ? ['without its last line, which is incomplete'] : []),
  ];
  return { name, purpose: purpose.join(', '), steps, ...(startedAtMs === null ? {} : { recordedAtMs: startedAtMs }) };
}

function onlyOneView(lines: readonly ReadLine[]): readonly ReadLine[] {
  const gets = lines.filter(({ content }) => content.kind !== 'post');
  const ofVm = gets.filter(({ vm }) => vm === gets[0]?.vm);
  const documents = ofVm.filter(({ content }) => content.kind === 'document');
  const versions = (documents.length > 0 ? documents : ofVm).map(({ apiVersion }) => apiVersion ?? '');
  const newest = versions.reduce((a, b) => (a > b ? a : b), '');
  return ofVm.filter(({ apiVersion }) => (apiVersion ?? '') === newest);
}

function toDocument({ DocumentIncarnation, Events }: RecordedDocument, apiVersion: string | null): Action {
  // The simulator itself adds the underscores of this version.
  const events = apiVersion === UNDERSCORE_VERSION ? Events.map(withoutUnderscores) : Events;
  return { kind: 'document', incarnation: DocumentIncarnation, events };
}

function withoutUnderscores(event: WireEvent): WireEvent {
  return { ...event, Resources: event.Resources.map((name) => name.replace(/^_/, '')) };
}

function toFault(
  { status, body = MISSING_BODY, contentType, retryAfter, cut, reset }: RecordedAnswer,
  forMs: number,
): OrderedFault {
  const every = { forMs, method: 'GET' };
  if (reset) return { ...every, reset };
  const headers = {
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  };
  // Announces one more byte than it sends.
  const text = cut ? { body: `${body} `, truncate: Buffer.byteLength(body) } : { body };
  return { ...every, ...(status === undefined ? {} : { status }), headers, ...text };
}
