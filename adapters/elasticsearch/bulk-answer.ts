// The answer to a bulk request → the outcome of each item, by its own status.
import { isObject } from '../../src/formats/json-object.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { Outcome } from '../adapter.ts';
import type { AnswerFaults } from '../http/answer-faults.ts';
import { jsonMembers } from '../http/json-body.ts';

const CREATED = 201;
/** A document with this id is there already: this event, sent before, or by another VM. */
const CONFLICT = 409;

/** Kinds of error that speak of the index, whatever the status: no event of the batch is to blame. */
const OF_THE_INDEX: ReadonlySet<string> = new Set(['index_closed_exception', 'invalid_index_name_exception']);
/** The other side's words are shown where they cannot be anything but the name of a kind. */
const KIND = /^[a-z_]{1,64}$/;

/** @throws BridgeError where the answer does not say what became of each of these ids, in their order */
export function bulkOutcomes(answer: HttpAnswer, ids: readonly string[], faults: AnswerFaults): readonly Outcome[] {
  const fault = faults.ofStatus(answer);
  if (fault !== null) throw fault;
  const { items } = jsonMembers(answer.body);
  const results = Array.isArray(items) ? items.map(resultOf) : [];
  if (results.length !== ids.length || results.some((result, place) => result?.id !== ids[place])) {
    throw faults.noAnswer(answer.status, 'one item for each document of the bulk request');
  }
  return results.map((result) => (result === null ? 'accepted' : outcomeOf(result, faults)));
}

interface ItemResult {
  readonly id: unknown;
  readonly status: number;
  /** Empty where there is none to show. */
  readonly kind: string;
}

function resultOf(item: unknown): ItemResult | null {
  const result = isObject(item) ? item['create'] : undefined;
  if (!isObject(result) || !Number.isSafeInteger(result['status'])) return null;
  const { _id: id, status, error } = result;
  const kind = isObject(error) && typeof error['type'] === 'string' && KIND.test(error['type']) ? error['type'] : '';
  return { id, status: Number(status), kind };
}

function outcomeOf({ status, kind }: ItemResult, faults: AnswerFaults): Outcome {
  if (status === CREATED || status === CONFLICT) return 'accepted';
  const says = (advice: string) => ({ said: `answered ${status} for a document${kind === '' ? '' : ` (${kind})`}`, advice, status });
  if (OF_THE_INDEX.has(kind)) return faults.misconfigured(says('check index, and whether it is open there'));
  if (status === 401 || status === 403) return faults.misconfigured(says('check the rights of the credentials on index, and its blocks'));
  if (status === 404) return faults.misconfigured(says('create index there, or correct it'));
  if (status === 429 || status < 400 || status > 499)
    return faults.unavailable(says('it is tried again; if this lasts, look at its disks and load'));
  return faults.refused(says('it will not take this event, which goes to the dead letters: look at the mapping of index'), true);
}
