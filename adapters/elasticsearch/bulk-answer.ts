// The answer to a bulk request → the outcome of each item, by its own status.
import { isObject } from '../../src/formats/json-object.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { Outcome } from '../adapter.ts';
import type { AnswerFaults } from '../http/answer-faults.ts';
import { jsonObject } from '../http/json-body.ts';

/** A document with this id exists: this event was sent before, or by another VM. */
const CONFLICT = 409;
/** The temporary failures among 400 to 499, as in the status table of all HTTP sinks. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** An item of Elasticsearch has about 20, with an error about 40. */
const MOST_VALUES_OF_ITEM = 100;
const MOST_OTHER_VALUES = 1000;

/** Error types that concern the index and not an event, whatever the status. */
const INDEX_ERRORS: ReadonlySet<string> = new Set(['index_closed_exception', 'invalid_index_name_exception']);
/** Messages show an error type only if it matches this: other texts may quote the document. */
const ERROR_TYPE = /^[a-z_]{1,64}$/;

/** The facts of a bulk request that its answer is compared with. */
interface BulkRequest {
  /** `_id` of each document, in order. */
  readonly ids: readonly string[];
  readonly pipeline: string | undefined;
}

/**
 * Returns the outcome of each document, in order.
 * @throws BridgeError if the status is a failure, or if the answer does not have one item for each of the ids, in order
 */
export function bulkOutcomes(
  answer: HttpAnswer,
  { ids, pipeline }: BulkRequest,
  faults: AnswerFaults,
): readonly Outcome[] {
  const fault = faults.ofStatus(answer);
  if (fault !== null) throw fault;
  const results = readItems(answer.body, ids);
  if (typeof results === 'string')
    throw faults.noAnswer(answer.status, `one item for each document of the bulk request (${results})`);
  return results.map((result) => outcomeOf(result, pipeline, faults));
}

interface ItemResult {
  readonly status: number;
  readonly hasError: boolean;
  /** Empty if no error type may be shown. */
  readonly errorType: string;
  /** Never logged: it may quote the document. */
  readonly reason: unknown;
}

/** Returns one result for each id, or a text that names what the answer lacks. */
function readItems(body: Buffer | null, ids: readonly string[]): readonly ItemResult[] | string {
  const members = jsonObject(body, MOST_OTHER_VALUES + MOST_VALUES_OF_ITEM * ids.length);
  if (members === null) return 'it is not a JSON object';
  const { items } = members;
  if (!Array.isArray(items)) return 'it has no list of items';
  if (items.length !== ids.length) return `${counted(items.length, 'item')} for ${counted(ids.length, 'document')}`;
  const results: ItemResult[] = [];
  for (const [position, item] of items.entries()) {
    const result = readItem(item, ids[position]);
    if (typeof result === 'string') return `item ${position + 1} has ${result}`;
    results.push(result);
  }
  return results;
}

/**
 * Only the status of an item decides. Some gateways omit the `_id` (Fluent Bit, VictoriaLogs) or name another operation
 * than the requested `create` (Quickwit: `index`).
 */
function readItem(item: unknown, id: string | undefined): ItemResult | string {
  const [result] = isObject(item) ? Object.values(item) : [];
  if (!isObject(result) || !Number.isSafeInteger(result['status'])) return 'no status';
  const { _id: itemId = null, status, error = null } = result;
  if (itemId !== null && itemId !== id) return 'the _id of another document';
  const errorType =
    isObject(error) && typeof error['type'] === 'string' && ERROR_TYPE.test(error['type']) ? error['type'] : '';
  return {
    status: Number(status),
    hasError: error !== null,
    errorType,
    reason: isObject(error) ? error['reason'] : undefined,
  };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Returns the outcome of one item. Success is 201 in Elasticsearch, and 200 for a document that an ingest pipeline
 * dropped. OpenObserve always answers 200.
 */
function outcomeOf(
  { status, hasError, errorType, reason }: ItemResult,
  pipeline: string | undefined,
  faults: AnswerFaults,
): Outcome {
  const isStored = status >= 200 && status <= 299 && !hasError;
  if (isStored || status === CONFLICT) return 'accepted';
  const details = (advice: string) => ({
    said: `answered ${status} for a document${errorType === '' ? '' : ` (${errorType})`}`,
    advice,
    status,
  });
  if (INDEX_ERRORS.has(errorType))
    return faults.misconfigured(details('check index, and if it is open in the cluster'));
  if (reason === `pipeline with id [${pipeline}] does not exist`)
    return faults.misconfigured(details('create pipeline there, or correct the name'));
  if (status === 401 || status === 403)
    return faults.misconfigured(details('check the rights of the credentials on index, and the blocks of index'));
  if (status === 404) return faults.misconfigured(details('create index there, or correct the name'));
  if (TEMPORARY.has(status) || status < 400 || status > 499)
    return faults.unavailable(
      details('the delivery is retried; if this persists, check the disks and load of the cluster'),
    );
  return faults.refused(details('it rejects this event, which is a dead letter now: check the mapping of index'), true);
}
