// Deliveries → syslog messages in the configured format, the same bytes at every attempt.

import { unencodable } from '../../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../../src/errors.ts';
import { boundedJson } from '../../../src/log-record/bounded-json.ts';
import { logText } from '../../../src/log-record/formats.ts';
import { type LogRecord, logRecord } from '../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { SyslogOptions } from '../syslog-options.ts';
import { boundedMessage } from './bounded-message.ts';
import { header, legacyHeader } from './header.ts';

type EncoderOptions = Pick<SyslogOptions, 'format' | 'facility' | 'legacy' | 'enterprise' | 'maxBytes'>;

const BOM = '\ufeff';
/** A mark, in text, and the `…` of a message that was cut. */
const LEAST_MESSAGE_BYTES = Buffer.byteLength(`${BOM}…`);

/** The formats that are JSON, each with the members whose texts may be cut. */
const CUTTABLE: Readonly<Partial<Record<SyslogOptions['format'], (member: string) => boolean>>> = {
  json: (member) => member === 'data',
  record: (member) => member === 'message' || member.startsWith('data.'),
};

/** @throws BridgeError with disposition `refused` where no message can be made of the delivery */
export type EncodeMessage = (delivery: Delivery) => Buffer;

/** @param sink its name, for messages */
export function messageEncoder(options: EncoderOptions, sink: string): EncodeMessage {
  return (delivery) => {
    try {
      return encode(delivery, options, sink);
    } catch (error) {
      throw unencodable(error, sink, 'message');
    }
  };
}

function encode({ bytes, change }: Delivery, options: EncoderOptions, sink: string): Buffer {
  const record = logRecord(bytes);
  const { legacy, maxBytes } = options;
  const head = legacy ? legacyHeader(record, options) : header(record, change, options);
  const headBytes = Buffer.byteLength(head);
  if (headBytes > maxBytes - LEAST_MESSAGE_BYTES) throw tooLongHeader(sink, headBytes, maxBytes);
  const whole = bodyOf(record, bytes, options);
  const message = headBytes + whole.byteLength > maxBytes ? shorterBody(whole, options, maxBytes - headBytes) : whole;
  const encoded = message && boundedMessage(Buffer.from(isMarked(message, options) ? `${head}${BOM}` : head), message, maxBytes);
  if (encoded === null) throw tooLong(sink, maxBytes);
  return encoded;
}

function bodyOf(record: LogRecord, bytes: Uint8Array, { format }: EncoderOptions): Uint8Array {
  if (format === 'json') return bytes;
  // A syslog header has the rest of the text format's line.
  return Buffer.from(format === 'text' ? record.message : logText(record, format));
}

/** Of JSON the long texts are cut, so that it stays JSON; null if that is not enough. Of other formats the end is, once the header is known. */
function shorterBody(body: Uint8Array, { format }: EncoderOptions, maxBytes: number): Uint8Array | null {
  const mayCut = CUTTABLE[format];
  if (mayCut === undefined) return body;
  const json = boundedJson(JSON.parse(Buffer.from(body).toString()), maxBytes, mayCut);
  return json === null ? null : Buffer.from(json);
}

/**
 * RFC 5424, section 6.4, marks UTF-8 by a byte order mark. Text has one where it holds more than ASCII, which reads alike in every encoding.
 * JSON must have none (RFC 8259, section 8.1), and CEF has to begin with `CEF:`.
 */
function isMarked(message: Uint8Array, { format, legacy }: EncoderOptions): boolean {
  return format === 'text' && !legacy && message.some((byte) => byte > 0x7f);
}

function tooLongHeader(sink: string, headBytes: number, maxBytes: number): BridgeError {
  const makes = `the header of this CloudEvent alone makes ${headBytes} of the ${maxBytes} bytes of maxBytes`;
  return refused(`sink ${sink}: ${makes}, which leaves no room for a message`);
}

function tooLong(sink: string, maxBytes: number): BridgeError {
  return refused(`sink ${sink}: this CloudEvent does not fit into the ${maxBytes} bytes of maxBytes, not even with its long texts cut`);
}

function refused(fault: string): BridgeError {
  const message = `${fault}; it goes to the dead letters: raise maxBytes, then dead-letters retry`;
  return new BridgeError('BRIDGE_SYSLOG_REFUSED', message, { disposition: 'refused', status: 'too long' });
}
