// The stored bytes of a CloudEvent → its log record, the base of all formats (behaviour 9.1).
import type { JsonObject } from '../formats/json-object.ts';
import { isObject } from '../formats/json-object.ts';
import { logMessage } from './message.ts';

export type LogSeverity = 'INFO' | 'WARN' | 'ERROR';

/** The same bytes always give the same record: it has no clock, no attempt and no version of the program in it. */
export interface LogRecord {
  /** The CloudEvent's `time`, RFC 3339. */
  readonly time: string;
  readonly severity: LogSeverity;
  /** The CloudEvent's `severitynumber`, by OpenTelemetry's numbers. */
  readonly severityNumber: number;
  /** One sentence in plain English, in one line. */
  readonly message: string;
  /** Every attribute that is set, by its name; `time` and the severities, too. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly data: JsonObject;
  /** The VM whose bridge made the CloudEvent; null while its name is unknown. */
  readonly host: string | null;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * @throws SyntaxError or TypeError for bytes that are not a CloudEvent in structured mode; the store never has such
 * bytes
 */
export function logRecord(bytes: Uint8Array): LogRecord {
  const event: unknown = JSON.parse(decoder.decode(bytes));
  const data = isObject(event) ? event['data'] : undefined;
  if (!isObject(event) || !isObject(data))
    throw new TypeError('this is not a CloudEvent with a JSON object as its data');
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
  const isSet = ([name, value]: [string, unknown]): boolean =>
    name !== 'data' && ['string', 'number', 'boolean'].includes(typeof value);
  return Object.fromEntries(Object.entries(event).filter(isSet)) as LogRecord['attributes'];
}

/** Returns the name; OpenTelemetry has four numbers for each. */
function severityOf(severityNumber: number): LogSeverity {
  if (severityNumber >= 17) return 'ERROR';
  return severityNumber >= 13 ? 'WARN' : 'INFO';
}
