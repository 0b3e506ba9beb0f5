// An answer of the HTTP Event Collector → its code, and the BridgeError for the lane.
import type { BridgeError } from '../../src/errors.ts';
import { isObject } from '../../src/formats/json-object.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { AnswerFaults } from '../http/answer-faults.ts';
import { jsonMembers } from '../http/json-body.ts';

const SUCCESS = 0;
export const NO_DATA = 5;

const TOKEN = 'check token, and if it is enabled in Splunk';
const CHANNEL = 'the token requires acknowledgment: set acknowledge: true, or disable it for the token';

/** Codes of a wrong configuration, each with its meaning and advice. */
const MISCONFIGURED: Readonly<Record<number, readonly [says: string, advice: string]>> = {
  1: ['token disabled', 'enable the token in Splunk'],
  2: ['token required', TOKEN],
  3: ['invalid authorization', TOKEN],
  4: ['invalid token', TOKEN],
  7: ['incorrect index', 'check index, and which indexes the token may write to'],
  10: ['data channel missing', CHANNEL],
  11: ['invalid data channel', CHANNEL],
  14: ['acknowledgment disabled', 'enable indexer acknowledgment for the token, or set acknowledge: false'],
};

/** Codes that reject an event. */
const REFUSED: Readonly<Record<number, string>> = {
  [NO_DATA]: 'no data',
  6: 'invalid data format',
  12: 'event field required',
  13: 'event field blank',
  15: 'error in indexed fields',
};

/** Codes of temporary failures. */
const UNAVAILABLE: Readonly<Record<number, string>> = { 8: 'internal error', 9: 'server busy' };

/** The members of an HEC answer; all null if the body is not one. */
export interface CollectorAnswer {
  readonly code: number | null;
  readonly ackId: number | null;
  /** The first rejected event. Most releases count from 0. */
  readonly invalidEvent: number | null;
  /** Ids of batches; true if the batch is indexed. */
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

/**
 * Returns the fault of an answer, or null for a success.
 * @param isAlone whether the batch has one event, so that a rejection means that event
 */
export function collectorFault(answer: HttpAnswer, faults: AnswerFaults, isAlone: boolean): BridgeError | null {
  const { code } = readAnswer(answer);
  const ofStatus = faults.ofStatus(answer);
  if (ofStatus === null && code === SUCCESS) return null;
  const ofCode = code === null ? null : codeFault(code, answer, faults, isAlone);
  return ofCode ?? ofStatus ?? faults.noAnswer(answer.status, "HEC's code 0");
}

/**
 * Returns the fault of a code, or null for an unknown code. Ignores the status, because gateways with HEC's API use
 * other statuses.
 */
function codeFault(code: number, answer: HttpAnswer, faults: AnswerFaults, isAlone: boolean): BridgeError | null {
  const details = (words: string, advice: string) => ({
    said: `answered ${answer.status}, code ${code} (${words})`,
    advice,
    status: code,
  });
  const wrong = MISCONFIGURED[code];
  if (wrong !== undefined) return faults.misconfigured(details(...wrong));
  const refused = REFUSED[code];
  if (refused !== undefined)
    return faults.refused(details(refused, 'it rejects this event, which is a dead letter now'), isAlone);
  const passing = UNAVAILABLE[code];
  if (passing === undefined) return null;
  return faults.unavailable(
    details(passing, 'the delivery is retried; if this persists, check the queues of the indexers'),
    answer,
  );
}

function wholeNumber(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}
