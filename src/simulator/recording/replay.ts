// A recording → the script that plays its documents and odd answers at their times.
import { basename } from 'node:path';
import { toRfc3339Seconds } from '../../formats/dates.ts';
import { UNDERSCORE_VERSION } from '../../model/api-versions.ts';
import type { WireEvent } from '../events/event.ts';
import type { FaultOrder } from '../events/faults.ts';
import type { Action, Script, Step } from '../script/script.ts';
import { type ReadLine, type ReadRecording, readRecording } from './read-recording.ts';
import type { RecordedAnswer, RecordedDocument } from './recording.ts';

/** How long the last odd answer lasts: until it is cleared. */
const FOR_EVER_MS = 100 * 365 * 86_400_000;

/** Not empty: an empty 200 would say that nothing is listed. */
const LEFT_OUT = 'The recording holds no body for this answer.';

/** `--replay FILE`; the script has the file's name. @throws BridgeError BRIDGE_SIMULATOR_RECORDING where it cannot be read or has faults */
export async function replay(path: string): Promise<Script> {
  return toScript(await readRecording(path), basename(path));
}

/**
 * Several machines: the one that comes first, for what the others see differs at most by a poll. Several api-versions: the newest with a document,
 * which holds all that the others do. Posts are not played: what they led to is in the documents.
 */
export function toScript({ startedAtMs, lines, anonymised, isCut }: ReadRecording, name: string): Script {
  const played = onlyOneView(lines);
  const steps: Step[] = [];
  let last = '';
  for (const [index, { afterMs, apiVersion, content }] of played.entries()) {
    if (content.kind === 'answer') {
      const next = played[index + 1];
      const forMs = next ? next.afterMs - afterMs : FOR_EVER_MS;
      if (forMs > 0) steps.push({ afterMs, action: { kind: 'fault', orders: [toFault(content.answer, forMs)] } });
    } else if (content.kind === 'document') {
      const action = toDocument(content.document, apiVersion);
      // Captures of others hold a line for every poll.
      const rendered = JSON.stringify(action);
      if (rendered !== last) steps.push({ afterMs, action });
      last = rendered;
    }
  }
  const purpose = [
    startedAtMs === null ? 'a capture without times' : `what a metadata service answered from ${toRfc3339Seconds(startedAtMs)} on`,
    ...(anonymised ? ['anonymised'] : []),
    ...(isCut ? ['without its last line, which is cut off'] : []),
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
  // The simulator writes the underscores of this version by itself.
  const events = apiVersion === UNDERSCORE_VERSION ? Events.map(withoutUnderscores) : Events;
  return { kind: 'document', incarnation: DocumentIncarnation, events };
}

function withoutUnderscores(event: WireEvent): WireEvent {
  return { ...event, Resources: event.Resources.map((name) => name.replace(/^_/, '')) };
}

function toFault({ status, body = LEFT_OUT, contentType, retryAfter, cut, reset }: RecordedAnswer, forMs: number): FaultOrder {
  const every = { forMs, method: 'GET' };
  if (reset) return { ...every, reset };
  const headers = {
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  };
  // One more byte is announced than comes.
  const text = cut ? { body: `${body} `, truncate: Buffer.byteLength(body) } : { body };
  return { ...every, ...(status === undefined ? {} : { status }), headers, ...text };
}
