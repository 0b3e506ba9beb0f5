// /proc/self/status of a bridge → whether it may begin another user's program, and end it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capabilitiesOf, mayEnd, maySwitchTo, type OwnRights } from '../../../../adapters/command/accounts.ts';

const POSTGRES = { uid: 110 };

function bridge(uid: number, capEff: string): OwnRights {
  return {
    uid,
    capabilities: capabilitiesOf(
      `Name:\tnode\nCapPrm:\t000001ffffffffff\nCapEff:\t${capEff}\nCapBnd:\t000001ffffffffff\n`,
    ),
  };
}

for (const [who, own, expected] of [
  ['root', bridge(0, '0000000000000000'), [true, true]],
  ['that user itself', bridge(110, '0000000000000000'), [true, true]],
  ['another user', bridge(1000, '0000000000000000'), [false, false]],
  ['another user with CAP_SETGID alone', bridge(1000, '0000000000000040'), [false, false]],
  ['another user with CAP_SETUID and CAP_SETGID', bridge(1000, '00000000000000c0'), [true, false]],
  ['another user with CAP_KILL, too', bridge(1000, '00000000000000e0'), [true, true]],
] as const)
  test(`${who} ${expected[0] ? 'may' : 'may not'} begin a user's program, and ${expected[1] ? 'may' : 'may not'} end it`, () => {
    assert.deepEqual([maySwitchTo(POSTGRES, own), mayEnd(POSTGRES, own)], expected);
  });

test('unknown capabilities count as none', () => {
  assert.equal(capabilitiesOf(''), 0n);
});
