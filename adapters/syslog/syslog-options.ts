// What the configuration says of a syslog server → checked options, faults of open TLS files.
import * as v from 'valibot';
import { LOG_FORMATS } from '../../src/log-record/formats.ts';
import { type TlsOptions, tlsFaults, tlsSection } from '../../src/net/tls-options.ts';
import { durationBetween, sizeBetween, timeLimit, wholeNumber, withoutFault } from '../../src/schema/pieces.ts';
import type { OptionFault } from '../adapter.ts';
import { FACILITIES, type Facility } from './message/priority.ts';
import { parseServer, type SyslogServer, serverFault } from './server-address.ts';

export const FRAMINGS = ['counted', 'lines'] as const;

/** RFC 5424, section 6.1: what every receiver takes. */
const LEAST_SIZE = '480B';
/** What an IPv4 datagram has room for. */
const MOST_DATAGRAM_BYTES = 65_507;
const [STREAM_BYTES, DATAGRAM_BYTES] = [64 * 1024, 8 * 1024];
/** With the longest `settle` below the five minutes after which a lane gives any adapter up. */
const LONGEST = '200s';
const MOST_MEMBERS = 1000;
const LARGEST_ENTERPRISE = 2 ** 32 - 1;

const server = v.pipe(
  v.string(),
  withoutFault(serverFault),
  v.description('Where to send: tls://HOST:PORT, tcp://HOST:PORT, udp://HOST:PORT, or unix:PATH of a stream socket.'),
);

const entries = {
  type: v.pipe(v.optional(v.literal('syslog')), v.description('The kind of sink.')),
  server,
  tls: v.exactOptional(
    v.pipe(
      tlsSection({ shownTo: 'the server', host: 'the host of server' }),
      v.description('TLS of a tls:// server. The files are read again when they change.'),
    ),
  ),
  format: v.pipe(
    v.optional(v.picklist(LOG_FORMATS), 'json'),
    v.description(
      'What the message holds: json, the structured CloudEvent; record, one flat JSON object; cef, Common Event Format; text, one English sentence. Default json.',
    ),
  ),
  facility: v.pipe(
    v.optional(v.picklist(Object.keys(FACILITIES) as Facility[]), 'daemon'),
    v.description('The facility of each message. Default daemon.'),
  ),
  legacy: v.pipe(
    v.optional(v.boolean(), false),
    v.description(
      'true: messages by RFC 3164, without year, structured data and MSGID, for receivers that read no RFC 5424. Default false.',
    ),
  ),
  enterprise: v.pipe(
    v.optional(wholeNumber(1, LARGEST_ENTERPRISE), 32_473),
    v.description('Private enterprise number in the name of the structured data, cloudevent@NUMBER. Default 32473, the one for examples.'),
  ),
  framing: v.pipe(
    v.optional(v.picklist(FRAMINGS), 'counted'),
    v.description(
      'How messages are told apart on a stream: counted, by their length in front of them; lines, by a line feed behind them, for receivers that count none. Default counted.',
    ),
  ),
  maxBytes: v.exactOptional(
    v.pipe(
      sizeBetween(LEAST_SIZE, '16MiB'),
      v.description(
        'How long a whole message may be; a longer one is cut and ends in "…", of JSON its long texts. From 480B to 16MiB. Default 64KiB, over udp 8KiB.',
      ),
    ),
  ),
  settle: v.pipe(
    v.optional(
      durationBetween('0s', '30s', 'How long a connection must stand after it took a message for that to count as accepted. Default 1s.'),
      '1s',
    ),
  ),
  timeout: v.pipe(
    v.optional(timeLimit(LONGEST), '10s'),
    v.description('How long connecting and handing a batch over may take, without settle. Default 10s.'),
  ),
  maxBatch: v.pipe(
    v.optional(wholeNumber(1, MOST_MEMBERS), 500),
    v.description('So many CloudEvents are written together at most. Default 500.'),
  ),
  maxBatchBytes: v.pipe(
    v.optional(sizeBetween('4KiB', '64MiB'), '1MiB'),
    v.description('How many bytes of CloudEvents are written together at most; a larger one goes alone. Default 1MiB.'),
  ),
};

const isUdp = (text: string) => text.startsWith('udp:');

export const syslogOptions = v.pipe(
  v.strictObject(entries),
  v.forward(
    v.check(
      ({ server, tls }) => tls === undefined || server.startsWith('tls:'),
      'means nothing for a server that is not tls://: leave it out',
    ),
    ['tls'],
  ),
  v.forward(
    v.check(
      ({ server, maxBytes = 0 }) => !isUdp(server) || maxBytes <= MOST_DATAGRAM_BYTES,
      `must be at most ${MOST_DATAGRAM_BYTES}B over udp`,
    ),
    ['maxBytes'],
  ),
  v.transform(({ server, maxBytes, ...rest }) => ({
    ...rest,
    server: parseServer(server),
    maxBytes: maxBytes ?? (isUdp(server) ? DATAGRAM_BYTES : STREAM_BYTES),
  })),
);

/** With the server taken apart, and `maxBytes` as the transport has it. */
export type SyslogOptions = v.InferOutput<typeof syslogOptions> & { readonly server: SyslogServer };

/** What is wrong with the files of `tls`, once they are open. */
export function tlsFileFaults({ tls }: { readonly tls?: TlsOptions | undefined }): readonly OptionFault[] {
  return tls === undefined ? [] : tlsFaults(tls, 'tls');
}
