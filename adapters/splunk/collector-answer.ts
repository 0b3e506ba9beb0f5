// What the HTTP Event Collector answers → its code, and what each code asks of the lane.
import type { BridgeError } from '../../src/errors.ts';
import { isObject } from '../../src/formats/json-object.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { AnswerFaults } from '../http/answer-faults.ts';
import { jsonMembers } from '../http/json-body.ts';

export const SUCCESS = 0;
export const NO_DATA = 5;

const TOKEN = 'check token, and whether it is enabled there';
const CHANNEL = 'the token wants acknowledgment: set acknowledge: true, or switch it off there';

/** Codes that somebody has to correct, each with what it says and what to do. */
const MISCONFIGURED: Readonly<Record<number, readonly [says: string, advice: string]>> = {
  1: ['token disabled', 'enable the token there'],
  2: ['token required', TOKEN],
  3: ['invalid authorization', TOKEN],
  4: ['invalid token', TOKEN],
  7: ['incorrect index', 'check index, and which indexes the token may write to'],
  10: ['data channel missing', CHANNEL],
  11: ['invalid data channel', CHANNEL],
  14: ['acknowledgment disabled', 'switch on indexer acknowledgment of the token there, or set acknowledge: false'],
};

/** Codes that speak of an event. */
const REFUSED: Readonly<Record<number, string>> = {
  [NO_DATA]: 'no data',
  6: 'invalid data format',
  12: 'event field required',
  13: 'event field blank',
  15: 'error in indexed fields',
};

/** Codes that pass. */
const UNAVAILABLE: Readonly<Record<number, string>> = { 8: 'internal error', 9: 'server busy' };

/** What an answer holds of HEC; all null where it is none. */
export interface CollectorAnswer {
  readonly code: number | null;
  readonly ackId: number | null;
  /** The first event that was not taken, counted from 0 by most releases. */
  readonly invalidEvent: number | null;
  /** Ids of batches, each with whether it is indexed. */
  readonly acks: Readonly<Record<string, unknown>> | null;
}

export function readAnswer({ body }: HttpAnswer): CollectorAnswer {
  const members = jsonMembers(body);
  const { acks } = members;
  return {
    code: wholeNumber(members['code']),
    ackId: wholeNumber(members['ackId']),
    invalidEvent: wholeNumber(members['invalid-event-number']),
    acks: isObject(acks) ? acks : null,
  };
}

/** Null for a success. @param isAlone whether a refusal can mean one event alone */
export function collectorFault(answer: HttpAnswer, faults: AnswerFaults, isAlone: boolean): BridgeError | null {
  const { code } = readAnswer(answer);
  const ofStatus = faults.ofStatus(answer);
  if (ofStatus === null && code === SUCCESS) return null;
  const ofCode = code === null ? null : codeFault(code, answer, faults, isAlone);
  return ofCode ?? ofStatus ?? faults.noAnswer(answer.status, "HEC's code 0");
}

/** Whatever the status is: gateways that speak HEC do not all give Splunk's. Null for a code that says nothing to us. */
function codeFault(code: number, answer: HttpAnswer, faults: AnswerFaults, isAlone: boolean): BridgeError | null {
  const says = (words: string, advice: string) => ({ said: `answered ${answer.status}, code ${code} (${words})`, advice, status: code });
  const wrong = MISCONFIGURED[code];
  if (wrong !== undefined) return faults.misconfigured(says(...wrong));
  const refused = REFUSED[code];
  if (refused !== undefined) return faults.refused(says(refused, 'it will not take this event, which goes to the dead letters'), isAlone);
  const passing = UNAVAILABLE[code];
  if (passing === undefined) return null;
  return faults.unavailable(says(passing, 'it is tried again; if this lasts, look at the queues of the indexers'), answer);
}

function wholeNumber(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}
