// The adapter contract, clause by clause, for syslog over each transport and in each format.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { syslogSink } from '../../../adapters/syslog/syslog.ts';
import { toCef } from '../../../src/log-record/cef.ts';
import { flatRecord } from '../../../src/log-record/formats.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { CertificateAuthority, type Issued } from '../../far-sides/certificate-authority.ts';
import { parsedMessage } from '../../far-sides/syslog/parsed-message.ts';
import { SyslogServer, type SyslogServerOptions } from '../../far-sides/syslog/syslog-server.ts';
import { folderOf } from '../../support/folder.ts';
import { type Arrival, type Clause, type FarSide, testAdapter } from '../contract.ts';

type TransportName = SyslogServerOptions['transport'];
type Skips = Partial<Record<Clause, string>>;

const STREAM_SKIPS: Skips = {
  'a key that gets no answer does not hold up another': 'one stream: all deliveries wait for its reader',
  'a refusal becomes a dead letter at once': 'a syslog server cannot refuse a message',
  'an overload is retried after the pause that the far side asks for': 'a busy server reads slowly, and nothing fails',
};
const UDP = 'a datagram counts as accepted when the system takes it, even if no server exists';
const UDP_SKIPS: Skips = {
  ...STREAM_SKIPS,
  'an unreachable far side is a failure of the whole sink': UDP,
  'it recovers by itself when the far side is back on the same address': UDP,
  'an abort ends a delivery at once, with its own reason': UDP,
  'no secret and no payload leaks into errors, logs or options': `${UDP}, so there are no errors; syslog-fault.test.ts tests the other errors`,
};
const NOT_WHOLE: Skips = {
  'a delivery arrives as a valid CloudEvent, its bytes unchanged':
    'this format does not contain the whole CloudEvent; message-encoder.test.ts compares each field',
};
const BODIES: Readonly<Record<string, (delivery: Delivery) => string>> = {
  record: ({ bytes }) => JSON.stringify(flatRecord(logRecord(bytes))),
  cef: ({ bytes }) => toCef(logRecord(bytes)),
  text: ({ bytes }) => logRecord(bytes).message,
};

for (const transport of ['tcp', 'tls', 'unix', 'udp'] as const) {
  const skip = transport === 'udp' ? UDP_SKIPS : STREAM_SKIPS;
  const common = { definition: syslogSink, awayIs: 'retry' } as const;
  testAdapter({ ...common, variant: `${transport}, json`, start: serverOf(transport, 'json'), skip });
  for (const [format, body] of Object.entries(BODIES)) {
    const onTheWire = (delivery: Delivery) => Buffer.from(body(delivery));
    testAdapter({
      ...common,
      variant: `${transport}, ${format}`,
      start: serverOf(transport, format),
      onTheWire,
      skip: { ...skip, ...NOT_WHOLE },
    });
  }
}
testAdapter({
  definition: syslogSink,
  variant: 'tcp, lines',
  start: serverOf('tcp', 'json', 'lines'),
  awayIs: 'retry',
  skip: STREAM_SKIPS,
});

const folder = mkdtempSync(join(tmpdir(), 'bridge-syslog-'));
after(() => rmSync(folder, { recursive: true }));
let made: Promise<{ readonly authority: CertificateAuthority; readonly server: Issued }> | undefined;

/** The same for all tests: openssl takes longer than most of them. */
function certificates() {
  made ??= CertificateAuthority.createIn(folder).then(async (authority) => ({
    authority,
    server: await authority.issue('IP:127.0.0.1'),
  }));
  return made;
}

function serverOf(transport: TransportName, format: string, framing: 'counted' | 'lines' = 'counted') {
  return async (t: TestContext): Promise<FarSide> => {
    const tls = transport === 'tls' ? await certificates() : null;
    const path = transport === 'unix' ? { path: `${folderOf(t)}/log.sock` } : {};
    const server = await SyslogServer.start({
      transport,
      framing,
      ...path,
      ...(tls && { tls: { cert: tls.server.cert, key: tls.server.key } }),
    });
    t.after(() => server.stop());
    return {
      options: {
        type: 'syslog',
        server: server.url,
        format,
        framing,
        settle: '30ms',
        maxBytes: transport === 'udp' ? '60KiB' : '16MiB',
        ...(tls && { tls: { ca: tls.authority.file } }),
      },
      secrets: {},
      arrivals: () => server.messages.map(arrival),
      contacts: () => server.connections.length + server.messages.length,
      hang: () => server.hang(),
      // What the kernel took is not stuck: the adapter has connected and is writing more than that.
      isStuck: () => server.connections.length > 0,
      // `record` has the text twice. Beyond `maxBytes`, the sink would cut it, which takes seconds.
      stuckBytes: (format === 'record' ? 7 : 12) * 1024 ** 2,
      accept: () => server.read(),
      leave: () => server.stop(),
      comeBack: () => server.start(),
    };
  };
}

function arrival(bytes: Buffer): Arrival {
  const { message, structuredData } = parsedMessage(bytes);
  const attributes = structuredData['cloudevent@32473'] ?? {};
  const isWhole = message.toString().startsWith('{"specversion"');
  return { bytes: message, event: new CloudEvent(isWhole ? JSON.parse(message.toString()) : attributes, isWhole) };
}
