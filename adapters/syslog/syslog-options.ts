// The configuration of a syslog sink → checked options, and the faults of its TLS files.
import * as v from 'valibot';
import { LOG_FORMATS } from '../../src/log-record/formats.ts';
import { type TlsOptions, tlsFaults, tlsSection } from '../../src/net/tls-options.ts';
import type { OptionFault } from '../../src/schema/faults.ts';
import {
  choice,
  durationBetween,
  flag,
  rule,
  sizeBetween,
  timeLimit,
  wholeNumber,
  withoutFault,
} from '../../src/schema/pieces.ts';
import { FACILITIES, type Facility } from './message/header.ts';
import { parseServer, type SyslogServer, serverFault } from './server-address.ts';

const FRAMINGS = ['counted', 'lines'] as const;

/** RFC 5424, section 6.1: every receiver must accept this length. */
const MIN_SIZE = '480B';
/** The largest payload of an IPv4 datagram. */
const MAX_DATAGRAM_BYTES = 65_507;
const [STREAM_BYTES, DATAGRAM_BYTES] = [64 * 1024, 8 * 1024];
/** With the longest `settle`, still below the lane's limit of five minutes for any adapter. */
const MAX_TIMEOUT = '200s';
const MAX_BATCH = 1000;
const MAX_ENTERPRISE = 2 ** 32 - 1;

const server = v.pipe(
  v.string(),
  withoutFault(serverFault),
  v.description('The server: tls://HOST:PORT, tcp://HOST:PORT, udp://HOST:PORT, or unix:PATH of a stream socket.'),
);

const entries = {
  type: v.pipe(v.optional(v.literal('syslog')), v.description('The kind of sink.')),
  server,
  tls: v.exactOptional(
    v.pipe(
      tlsSection({ shownTo: 'the server', host: 'the host of server' }),
      v.description('TLS settings for a tls:// server. The files are read again when they change.'),
    ),
  ),
  format: choice(
    LOG_FORMATS,
    'json',
    'Content of the message: json, the structured CloudEvent; record, one flat JSON object; cef, Common Event Format; text, one English sentence. Default json.',
  ),
  facility: v.pipe(
    v.optional(v.picklist(Object.keys(FACILITIES) as Facility[]), 'daemon'),
    v.description('The facility of each message. Default daemon.'),
  ),
  legacy: flag(
    false,
    'true: RFC 3164 messages, without year, structured data and MSGID, for receivers that do not read RFC 5424. Default false.',
  ),
  enterprise: v.pipe(
    v.optional(wholeNumber(1, MAX_ENTERPRISE), 32_473),
    v.description(
      'Private enterprise number in the name of the structured data, cloudevent@NUMBER. Default 32473, which is reserved for examples.',
    ),
  ),
  framing: choice(
    FRAMINGS,
    'counted',
    'How a stream separates messages: counted, the length before each message; lines, a line feed after each. Must match the receiver. Default counted.',
  ),
  maxBytes: v.exactOptional(
    v.pipe(
      sizeBetween(MIN_SIZE, '16MiB'),
      v.description(
        'Maximum length of a whole message. A longer one is cut and ends in "…"; in JSON, its long texts are cut. From 480B to 16MiB. Default 64KiB, over udp 8KiB.',
      ),
    ),
  ),
  settle: v.pipe(
    v.optional(
      durationBetween(
        '0s',
        '30s',
        'How long a connection must stay open after a message before the message counts as accepted. Default 1s.',
      ),
      '1s',
    ),
  ),
  timeout: v.pipe(
    v.optional(timeLimit(MAX_TIMEOUT), '10s'),
    v.description('Limit for connecting and sending a batch, without settle. Default 10s.'),
  ),
  maxBatch: v.pipe(
    v.optional(wholeNumber(1, MAX_BATCH), 500),
    v.description('Maximum number of CloudEvents in one write. Default 500.'),
  ),
  maxBatchBytes: v.pipe(
    v.optional(sizeBetween('4KiB', '64MiB'), '1MiB'),
    v.description('Maximum bytes of CloudEvents in one write; a larger CloudEvent goes alone. Default 1MiB.'),
  ),
};

const TOO_LONG_DATAGRAM = `must be at most ${MAX_DATAGRAM_BYTES}B over udp`;
const isUdp = (text: string) => text.startsWith('udp:');

export const syslogOptions = v.pipe(
  v.strictObject(entries),
  rule(
    'tls',
    ({ server, tls }) => tls === undefined || server.startsWith('tls:'),
    'only applies to a tls:// server: remove it',
  ),
  rule('maxBytes', ({ server, maxBytes = 0 }) => !isUdp(server) || maxBytes <= MAX_DATAGRAM_BYTES, TOO_LONG_DATAGRAM),
  v.transform(({ server, maxBytes, ...rest }) => ({
    ...rest,
    server: parseServer(server),
    maxBytes: maxBytes ?? (isUdp(server) ? DATAGRAM_BYTES : STREAM_BYTES),
  })),
);

/** The checked options, with the parsed server and the transport's default for `maxBytes`. */
export type SyslogOptions = v.InferOutput<typeof syslogOptions> & { readonly server: SyslogServer };

export function tlsFileFaults({ tls }: { readonly tls?: TlsOptions | undefined }): readonly OptionFault[] {
  return tls === undefined ? [] : tlsFaults(tls, 'tls');
}
