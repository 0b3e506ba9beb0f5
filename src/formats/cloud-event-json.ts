// A structured CloudEvent's JSON object → its data. Pure.
import { type BodyValue, type ParseJson, parseJson } from './json-object.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns `data`, or the JSON in `data_base64`, of a CloudEvent's JSON object (CloudEvents JSON format 1.0.2, section
 * 3.1).
 */
export function carriedData(
  { specversion, data, data_base64: base64 }: Readonly<Record<string, unknown>>,
  parse: ParseJson = parseJson,
): BodyValue {
  if (specversion !== '1.0') return { fault: 'it is a CloudEvent with a specversion other than 1.0' };
  if (data !== undefined && base64 !== undefined) return { fault: 'it is a CloudEvent with both data and data_base64' };
  if (base64 === undefined) return data === undefined ? { fault: 'it is a CloudEvent without data' } : { value: data };
  if (typeof base64 !== 'string' || !BASE64.test(base64))
    return { fault: 'it is a CloudEvent whose data_base64 is not Base64' };
  return parse(Buffer.from(base64, 'base64'), 'the data of its CloudEvent');
}
