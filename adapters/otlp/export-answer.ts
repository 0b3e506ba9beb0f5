// The body of a receiver's answer → the number of rejected records, and its message.
import { isObject, type JsonObject } from '../../src/formats/json-object.ts';
import { jsonObject } from '../http/json-body.ts';
import { readFields } from './protobuf-reader.ts';

/** Field numbers of ExportLogsServiceResponse, its ExportLogsPartialSuccess, and google.rpc.Status. */
const PARTIAL_SUCCESS = 1;
const [REJECTED, MESSAGE] = [1, 2] as const;
/** More than a log line shows of a text. */
const MAX_TEXT_BYTES = 4096;

interface ExportAnswer {
  readonly rejected: number;
  /** Empty if the receiver sent none. */
  readonly message: string;
}

const NOTHING: ExportAnswer = { rejected: 0, message: '' };

/**
 * Reads a success in either encoding, whatever the request's: protobuf of an answer never begins like a JSON object.
 * Returns null if the body is neither.
 */
export function readSuccess(body: Buffer | null): ExportAnswer | null {
  if (body === null) return null;
  const members = jsonObject(body);
  if (members !== null) return ofJson(members['partialSuccess'] ?? members['partial_success']);
  const partial = readFields(body, [PARTIAL_SUCCESS])?.get(PARTIAL_SUCCESS);
  if (partial === undefined) return readFields(body, []) && NOTHING;
  return typeof partial === 'bigint' ? null : ofProtobuf(partial);
}

/** Returns the message in a failure's google.rpc.Status, or an empty text. */
export function readFailure(body: Buffer | null): string {
  if (body === null) return '';
  const members = jsonObject(body);
  return members === null ? protobufText(readFields(body, [MESSAGE])?.get(MESSAGE)) : jsonText(members['message']);
}

/** Reads protobuf's JSON mapping, which writes an int64 as a text and allows both names of a field. */
function ofJson(partial: unknown): ExportAnswer | null {
  if (partial === undefined || partial === null) return NOTHING;
  if (!isObject(partial)) return null;
  const count = partial['rejectedLogRecords'] ?? partial['rejected_log_records'] ?? 0;
  // An object may have a toString that is no function.
  const rejected = typeof count === 'object' ? Number.NaN : Number(count);
  return Number.isInteger(rejected) ? { rejected, message: jsonText(messageIn(partial)) } : null;
}

function messageIn(partial: JsonObject): unknown {
  return partial['errorMessage'] ?? partial['error_message'];
}

function ofProtobuf(partial: Uint8Array): ExportAnswer | null {
  const fields = readFields(partial, [REJECTED, MESSAGE]);
  const rejected = fields?.get(REJECTED) ?? 0n;
  if (fields === null || typeof rejected !== 'bigint') return null;
  return { rejected: Number(BigInt.asIntN(64, rejected)), message: protobufText(fields.get(MESSAGE)) };
}

function protobufText(bytes: bigint | Uint8Array | undefined): string {
  return bytes instanceof Uint8Array ? new TextDecoder().decode(bytes.subarray(0, MAX_TEXT_BYTES)) : '';
}

function jsonText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_BYTES) : '';
}
