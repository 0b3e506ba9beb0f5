// A source with an identity → the token that it shows, or the error that it got instead.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { Reading } from '../source-reading.ts';
import { openServer, openSource } from './source-fixture.ts';

test('a missing token ends the call with its own error; an available token is presented', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const server = await openServer(t, { tls: await authority.issue('IP:127.0.0.1') });
  const refused = new BridgeError('BRIDGE_AZURE_UNAVAILABLE', 'no token', { disposition: 'retry', scope: 'sink' });
  let asked = 0;
  const token = async () => {
    asked += 1;
    if (asked === 1) throw refused;
    return { token: 'of the VM', expiresAtMs: Date.now() + 3_600_000 };
  };
  const credentialOf = () => ({ token });
  const options = { namespace: server.address, tls: { ca: authority.file } };
  const { source } = openSource(server, { options, credentialOf });
  assert.equal(await new Reading(source).done, refused);
  await new Reading(source).ready();
  assert.deepEqual(
    server.contacts('put-token').map(({ token, status }) => [token, status]),
    [['of the VM', 202]],
  );
});
