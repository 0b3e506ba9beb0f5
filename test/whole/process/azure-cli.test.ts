// A program `az` on the PATH → its token, or what is to be done.
import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setEnvironment } from '../../far-sides/entra-id.ts';
import { folderOf } from '../../support/folder.ts';
import { start } from '../../virtual/credential-fixture.ts';

test('the Azure CLI is asked, and its needs are reported', async (t) => {
  const folder = folderOf(t);
  const az = join(folder, 'az');
  await writeFile(az, `#!/bin/sh\necho "ERROR: Please run 'az login' to setup account." >&2\nexit 1\n`);
  await chmod(az, 0o755);
  setEnvironment(t, { PATH: `${folder}:/usr/bin:/bin` });
  const { time, ask, fails } = start(t, { credential: 'azure-cli' });
  const error = await fails();
  assert.deepEqual([error.code, error.disposition], ['BRIDGE_AZURE_REFUSED', 'misconfigured']);
  assert.match(error.message, /run `az login` as the user of the bridge/);
  const good = JSON.stringify({ accessToken: 'token-of-cli', expires_on: Math.floor(Date.now() / 1000) + 3600 });
  await writeFile(az, `#!/bin/sh\necho '${good}'\n`);
  await time.advance(1000);
  assert.equal(await ask(), 'token-of-cli');
});
