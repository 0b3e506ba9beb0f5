// The stored bytes of a CloudEvent → its log record, which all formats are made of (behaviour 9.1).
import type { JsonObject } from '../formats/json-object.ts';
import { isObject } from '../formats/json-object.ts';
import { logMessage } from './message.ts';

export type LogSeverity = 'INFO' | 'WARN' | 'ERROR';

/** The same for the same bytes: no clock, no attempt and no version of the program is in it. */
export interface LogRecord {
  /** RFC 3339: the CloudEvent's own. */
  readonly time: string;
  readonly severity: LogSeverity;
  /** By OpenTelemetry's numbers, as the CloudEvent has it. */
  readonly severityNumber: number;
  /** One sentence in plain English, in one line. */
  readonly message: string;
  /** Every attribute that is set, under its own name, `time` and the severities too. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly data: JsonObject;
  /** The VM whose bridge made the CloudEvent; null while its name is unknown. */
  readonly host: string | null;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws SyntaxError or TypeError for bytes that are no CloudEvent in structured mode, which the store never holds */
export function logRecord(bytes: Uint8Array): LogRecord {
  const event: unknown = JSON.parse(decoder.decode(bytes));
  const data = isObject(event) ? event['data'] : undefined;
  if (!isObject(event) || !isObject(data)) throw new TypeError('no CloudEvent with a JSON object as its data');
  const attributes = attributesOf(event);
  const { observer } = data;
  const name = isObject(observer) ? observer['name'] : null;
  const severityNumber = Number(attributes['severitynumber'] ?? 9);
  return {
    time: String(attributes['time']),
    severity: severityOf(severityNumber),
    severityNumber,
    message: logMessage(attributes, data),
    attributes,
    data,
    host: typeof name === 'string' ? name : null,
  };
}

function attributesOf(event: JsonObject): LogRecord['attributes'] {
  const isSet = ([name, value]: [string, unknown]): boolean => name !== 'data' && ['string', 'number', 'boolean'].includes(typeof value);
  return Object.fromEntries(Object.entries(event).filter(isSet)) as LogRecord['attributes'];
}

/** OpenTelemetry has four numbers for each of its names. */
function severityOf(severityNumber: number): LogSeverity {
  if (severityNumber >= 17) return 'ERROR';
  return severityNumber >= 13 ? 'WARN' : 'INFO';
}
