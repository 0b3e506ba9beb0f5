// Deliveries → syslog messages of limited length, the same bytes at every attempt.
import { unencodable } from '../../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../../src/errors.ts';
import { boundedJson } from '../../../src/log-record/bounded-json.ts';
import { logText } from '../../../src/log-record/formats.ts';
import { type LogRecord, logRecord } from '../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { SyslogOptions } from '../syslog-options.ts';
import { header, legacyHeader } from './header.ts';

type EncoderOptions = Pick<SyslogOptions, 'format' | 'facility' | 'legacy' | 'enterprise' | 'maxBytes'>;

const BOM = '\ufeff';
/** A byte order mark and the `…` of a cut message. */
const MIN_MESSAGE_BYTES = Buffer.byteLength(`${BOM}…`);

/** For each JSON format: which top-level members may have their texts cut. */
const CUTTABLE: Readonly<Partial<Record<SyslogOptions['format'], (member: string) => boolean>>> = {
  json: (member) => member === 'data',
  record: (member) => member === 'message' || member.startsWith('data.'),
};

/**
 * Encodes one delivery.
 * @throws BridgeError with disposition `refused` if the delivery cannot be encoded within `maxBytes`
 */
export type EncodeMessage = (delivery: Delivery) => Buffer;

/** @param sink the sink's name, for error messages */
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
  const headerText = legacy ? legacyHeader(record, options) : header(record, change, options);
  const headerBytes = Buffer.byteLength(headerText);
  if (headerBytes > maxBytes - MIN_MESSAGE_BYTES) throw tooLongHeader(sink, headerBytes, maxBytes);
  const body = bodyOf(record, bytes, options);
  const message =
    headerBytes + body.byteLength > maxBytes ? shortenedBody(body, options, maxBytes - headerBytes) : body;
  const encoded =
    message &&
    boundedMessage(
      Buffer.from(needsByteOrderMark(message, options) ? `${headerText}${BOM}` : headerText),
      message,
      maxBytes,
    );
  if (encoded === null) throw tooLong(sink, maxBytes);
  return encoded;
}

function bodyOf(record: LogRecord, bytes: Uint8Array, { format }: EncoderOptions): Uint8Array {
  if (format === 'json') return bytes;
  // A syslog header has the rest of the text format's line.
  return Buffer.from(format === 'text' ? record.message : logText(record, format));
}

/**
 * Cuts the long texts of a JSON body, so that it stays JSON. Returns null if that is not enough. Leaves other formats
 * unchanged: `boundedMessage` cuts their end.
 */
function shortenedBody(body: Uint8Array, { format }: EncoderOptions, maxBytes: number): Uint8Array | null {
  const mayCut = CUTTABLE[format];
  if (mayCut === undefined) return body;
  const json = boundedJson(JSON.parse(Buffer.from(body).toString()), maxBytes, mayCut);
  return json === null ? null : Buffer.from(json);
}

/**
 * RFC 5424, section 6.4, marks UTF-8 with a byte order mark. Text needs it only if it has characters outside ASCII.
 * JSON must not have one (RFC 8259, section 8.1), and CEF must begin with `CEF:`.
 */
function needsByteOrderMark(message: Uint8Array, { format, legacy }: EncoderOptions): boolean {
  return format === 'text' && !legacy && message.some((byte) => byte > 0x7f);
}

function tooLongHeader(sink: string, headerBytes: number, maxBytes: number): BridgeError {
  return refused(
    `sink ${sink}: the header of this CloudEvent has ${headerBytes} bytes, and maxBytes is ${maxBytes}: no room for a message`,
  );
}

function tooLong(sink: string, maxBytes: number): BridgeError {
  return refused(
    `sink ${sink}: this CloudEvent is longer than maxBytes (${maxBytes} bytes), even with its long texts cut`,
  );
}

function refused(fault: string): BridgeError {
  const message = `${fault}; it is a dead letter now: raise maxBytes, then run dead-letters retry`;
  return new BridgeError('BRIDGE_SYSLOG_REFUSED', message, { disposition: 'refused', status: 'too long' });
}

const ELLIPSIS = Buffer.from('…');

/**
 * Joins header and message. Cuts a message that is too long, and ends it in `…`. Returns null if not even the `…` fits.
 */
export function boundedMessage(header: Uint8Array, message: Uint8Array, maxBytes: number): Buffer | null {
  if (header.byteLength + message.byteLength <= maxBytes) return Buffer.concat([header, message]);
  const room = maxBytes - header.byteLength - ELLIPSIS.byteLength;
  return room < 0 ? null : Buffer.concat([header, message.subarray(0, characterEnd(message, room)), ELLIPSIS]);
}

const BACKSLASH = 0x5c;

/** Returns the last offset up to `max` that is the start of a UTF-8 character and not inside an escape of CEF. */
function characterEnd(text: Uint8Array, max: number): number {
  let end = max;
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end--;
  let backslashes = 0;
  while (text[end - 1 - backslashes] === BACKSLASH) backslashes++;
  return end - (backslashes % 2);
}
