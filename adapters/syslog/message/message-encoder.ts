// Deliveries → syslog messages in the configured format, the same bytes at every attempt.

import { unencodable } from '../../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../../src/errors.ts';
import { logText } from '../../../src/log-record/formats.ts';
import { type LogRecord, logRecord } from '../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { SyslogOptions } from '../syslog-options.ts';
import { boundedMessage } from './bounded-message.ts';
import { header, legacyHeader } from './header.ts';

type EncoderOptions = Pick<SyslogOptions, 'format' | 'facility' | 'legacy' | 'enterprise' | 'maxBytes'>;

const BOM = '\ufeff';

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
  const message = bodyOf(record, bytes, options);
  const head = options.legacy ? legacyHeader(record, options) : header(record, change, options);
  const encoded = boundedMessage(Buffer.from(isMarked(message, options) ? `${head}${BOM}` : head), message, options.maxBytes);
  if (encoded === null) throw tooLong(sink, Buffer.byteLength(head), options.maxBytes);
  return encoded;
}

function bodyOf(record: LogRecord, bytes: Uint8Array, { format }: EncoderOptions): Uint8Array {
  if (format === 'json') return bytes;
  // A syslog header has the rest of the text format's line.
  return Buffer.from(format === 'text' ? record.message : logText(record, format));
}

/**
 * RFC 5424, section 6.4, marks UTF-8 by a byte order mark. Text has one where it holds more than ASCII, which reads alike in every encoding.
 * JSON must have none (RFC 8259, section 8.1), and CEF has to begin with `CEF:`.
 */
function isMarked(message: Uint8Array, { format, legacy }: EncoderOptions): boolean {
  return format === 'text' && !legacy && message.some((byte) => byte > 0x7f);
}

function tooLong(sink: string, headBytes: number, maxBytes: number): BridgeError {
  const message =
    `sink ${sink}: the header of this CloudEvent alone makes ${headBytes} of the ${maxBytes} bytes of maxBytes, which leaves no room for a ` +
    'message; it goes to the dead letters: raise maxBytes, then dead-letters retry';
  return new BridgeError('BRIDGE_SYSLOG_REFUSED', message, { disposition: 'refused', status: 'too long' });
}
