// Texts of `server` → an address, or the fault in the text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseServer, serverFault } from '../../../../adapters/syslog/server-address.ts';
import { isMetadataAddress } from '../../../../src/net/private-addresses.ts';

test('a server is a host and a port behind its transport, or the path of a socket', () => {
  assert.deepEqual(parseServer('tls://Logs.example.com:6514'), {
    transport: 'tls',
    host: 'logs.example.com',
    port: 6514,
    text: 'tls://Logs.example.com:6514',
  });
  assert.deepEqual(parseServer('udp://[::1]:514'), {
    transport: 'udp',
    host: '::1',
    port: 514,
    text: 'udp://[::1]:514',
  });
  assert.deepEqual(parseServer('unix:/run/log.sock'), {
    transport: 'unix',
    path: '/run/log.sock',
    text: 'unix:/run/log.sock',
  });
});

test('the fault of any other text names the allowed forms', () => {
  const others = [
    'logs:514',
    'tcp://logs',
    'tcp://logs:',
    'http://logs:80',
    'tcp://u@logs:514',
    'tcp://logs:514/x',
    'tcp://a b:514',
    'tcp://::1:514',
    'TCP//x:1',
  ];
  for (const text of others)
    assert.match(serverFault(text) ?? '', /^must be tls:\/\/HOST:PORT, tcp:\/\/HOST:PORT, /, text);
  for (const port of ['0', '65536', '99999'])
    assert.match(serverFault(`tcp://logs:${port}`) ?? '', /between 1 and 65535/);
});

test('a path must be absolute and fit into the structure of a socket', () => {
  for (const text of ['unix:', 'unix:log.sock', 'unix:/a\0b'])
    assert.match(serverFault(text) ?? '', /absolute path/, text);
  assert.equal(serverFault(`unix:/${'x'.repeat(106)}`), null);
  assert.match(serverFault(`unix:/${'x'.repeat(107)}`) ?? '', /more than 107 bytes/);
});

test('every spelling of an address of the metadata service is a fault; any other address is allowed', () => {
  for (const host of ['169.254.169.254', '168.63.129.16', '2852039166', '0xa9fea9fe', '[::ffff:169.254.169.254]'])
    assert.match(serverFault(`tcp://${host}:514`) ?? '', /metadata service/, host);
  for (const host of ['127.0.0.1', '10.0.0.5', '169.254.1.1', '[fd00::1]', '203.0.113.9'])
    assert.equal(serverFault(`udp://${host}:514`), null);
  assert.deepEqual(['169.254.169.254', '10.0.0.5', 'logs.example.com'].map(isMetadataAddress), [true, false, false]);
});
