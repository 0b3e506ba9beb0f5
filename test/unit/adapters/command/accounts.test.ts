// Lines of /etc/passwd and of other directories → a user's uid, group and home, or none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccountSources, findAccount } from '../../../../adapters/command/accounts.ts';

const PASSWD =
  'root:x:0:0:root:/root:/bin/sh\n# comment\nbroken:x\npostgres:x:26:27:PostgreSQL:/var/lib/pgsql:/bin/sh\n';

function sources(line: string | null): AccountSources {
  return { passwd: async () => PASSWD, directory: async () => line };
}

test('a user is found by name or uid, with its primary group and home', async () => {
  const postgres = { name: 'postgres', uid: 26, gid: 27, home: '/var/lib/pgsql' };
  assert.deepEqual(await findAccount('postgres', sources(null)), postgres);
  assert.deepEqual(await findAccount(26, sources(null)), postgres);
  assert.equal((await findAccount(0, sources(null)))?.home, '/root');
});

test('one that the file does not have is asked of the directory, whose answer has to fit', async () => {
  assert.deepEqual(await findAccount('ann', sources('ann:*:5000:5001:Ann:/home/ann:/bin/sh')), {
    name: 'ann',
    uid: 5000,
    gid: 5001,
    home: '/home/ann',
  });
  assert.equal((await findAccount('ann', sources('ann:*:501:20::0:0:Ann:/Users/ann:/bin/zsh')))?.home, '/Users/ann');
  assert.equal(await findAccount('bob', sources('ann:*:5000:5001:Ann:/home/ann:/bin/sh')), null);
  assert.equal(await findAccount('bob', sources(null)), null);
});

test('a line without a number for its user or group is no user', async () => {
  assert.equal(await findAccount('ann', sources('ann:*::5001:Ann:/home/ann:/bin/sh')), null);
  assert.equal(await findAccount('broken', sources(null)), null);
});
