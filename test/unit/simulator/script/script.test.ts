// Names of scenarios → the script with this current or former name.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Script } from '../../../../src/simulator/script/script.ts';
import { scriptNamed } from '../../../../src/simulator/script/script.ts';

const script = (name: string): Script => ({ name, purpose: name, steps: [] });

test('a script is found by its name, and a renamed one also by its former name', () => {
  const scripts = ['demo', 'auto-approved-user-reboot'].map(script);
  const found = ['demo', 'auto-approved-user-reboot', 'user-reboot-at-once', 'nothing'].map(
    (name) => scriptNamed(scripts, name)?.name,
  );
  assert.deepEqual(found, ['demo', 'auto-approved-user-reboot', 'auto-approved-user-reboot', undefined]);
});

test("a user's script with a former name of a shipped one is found first", () => {
  const own = script('user-reboot-at-once');
  assert.equal(scriptNamed([script('auto-approved-user-reboot'), own], 'user-reboot-at-once'), own);
});

test('an unknown name finds nothing, also without any script', () => {
  assert.equal(scriptNamed([], 'user-reboot-at-once'), undefined);
});
