// Errors of sockets → code, disposition and scope of the BridgeError.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { parseServer } from '../../../../adapters/syslog/server-address.ts';
import { syslogFault, syslogTimeoutFault } from '../../../../adapters/syslog/syslog-fault.ts';
import { BridgeError } from '../../../../src/errors.ts';

const ROWS: readonly (readonly [
  server: string,
  code: string,
  expected: readonly [code: string, disposition: string, scope: string],
  words: RegExp,
])[] = [
  ['tcp://logs:514', 'ECONNREFUSED', ['UNREACHABLE', 'retry', 'sink'], /is unreachable/],
  ['tcp://logs:514', 'ENOTFOUND', ['UNREACHABLE', 'retry', 'sink'], /its name/],
  ['tcp://logs:514', 'ECONNRESET', ['BROKEN', 'retry', 'delivery'], /sent again/],
  ['tls://logs:6514', 'CERT_HAS_EXPIRED', ['TLS', 'retry', 'sink'], /expired/],
  [
    'tls://logs:6514',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    ['TLS', 'retry', 'sink'],
    /another name.*server.*tls\.serverName/,
  ],
  ['tls://logs:6514', 'EPROTO', ['TLS', 'retry', 'sink'], /does not use TLS.*tcp:\/\//],
  ['unix:/dev/log', 'EPROTOTYPE', ['MISCONFIGURED', 'misconfigured', 'sink'], /datagram socket/],
  ['unix:/run/log', 'EACCES', ['MISCONFIGURED', 'misconfigured', 'sink'], /grant write access/],
  ['unix:/run/log', 'ENOENT', ['UNREACHABLE', 'retry', 'sink'], /does not exist/],
  ['unix:/run/log', 'ECONNREFUSED', ['UNREACHABLE', 'retry', 'sink'], /has no listener/],
  ['udp://logs:514', 'EMSGSIZE', ['REFUSED', 'refused', 'delivery'], /lower maxBytes/],
];

for (const [server, code, [ours, disposition, scope], words] of ROWS) {
  test(`${code} of ${server} is ${ours}: ${disposition}, of the ${scope}`, () => {
    const fault = syslogFault(Object.assign(new Error('why'), { code, cert: 'the whole of it' }), {
      sink: 'logs',
      server: parseServer(server),
    });
    assert.deepEqual(
      [fault.code, fault.disposition, fault.scope, fault.status],
      [`BRIDGE_SYSLOG_${ours}`, disposition, scope, code],
    );
    assert.match(fault.message, words);
    assert.ok(fault.message.startsWith(`sink logs: ${server} `));
    assert.doesNotMatch(inspect(fault, { depth: 9, showHidden: true }), /the whole of it/);
  });
}

test('a BridgeError passes unchanged, and an unknown error is retried', () => {
  const place = { sink: 'logs', server: parseServer('tcp://logs:514') };
  const ours = syslogTimeoutFault(place, 3000);
  assert.equal(syslogFault(ours, place), ours);
  assert.match(ours.message, /within 3s/);
  const strange = syslogFault('strange', place);
  assert.ok(strange instanceof BridgeError);
  assert.deepEqual([strange.code, strange.disposition], ['BRIDGE_SYSLOG_BROKEN', 'retry']);
});
