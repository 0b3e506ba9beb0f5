// Configurations of a command sink, on Linux and on Windows → options, or faults with their paths.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { commandApprover, commandOptions, variableFaults } from '../../../../adapters/command/command-options.ts';
import { openSecrets } from '../../../adapters/contract.ts';

type Options = Readonly<Record<string, unknown>>;

function faultsOf(options: Options, platform: NodeJS.Platform = 'linux'): readonly string[] {
  const result = v.safeParse(commandOptions(platform), options);
  return result.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`) ?? [];
}

const RUN = { run: ['/bin/true'] };

test('defaults: ten minutes, four at once, no approver, nothing canceled', () => {
  const { run, env, timeout, concurrency, cancel, ...rest } = v.parse(commandOptions('linux'), RUN);
  assert.deepEqual(
    { run, env, timeout, concurrency, cancel },
    { run: ['/bin/true'], env: {}, timeout: 600_000, concurrency: 4, cancel: false },
  );
  assert.deepEqual(rest, {});
});

test('approve and hold say who approves, and whether the event is held until then', () => {
  const of = (options: Options) => commandApprover(v.parse(commandOptions('linux'), { ...RUN, ...options }));
  assert.equal(of({}), null);
  assert.deepEqual(of({ approve: 'orders' }), { name: 'orders', holds: false });
  assert.deepEqual(of({ approve: 'orders', hold: 'orders' }), { name: 'orders', holds: true });
});

const FAULTS: readonly (readonly [options: Options, fault: RegExp])[] = [
  [{}, /^run: /],
  [{ run: [] }, /^run: must name a program/],
  [{ run: ['bin/true'] }, /^run\.0: must be the absolute path/],
  [{ run: ['./true'] }, /^run\.0: must be the absolute path/],
  [{ run: ['..'] }, /^run\.0: must be the absolute path/],
  [{ run: [''] }, /^run\.0: must be the absolute path/],
  [{ run: ['/bin/true', 'a\0b'] }, /^run\.1: must not hold a NUL/],
  [{ ...RUN, env: { '2X': '' } }, /^env\.2X: must be the name of a variable/],
  [{ ...RUN, env: { BRIDGE_ATTEMPT: '7' } }, /^env\.BRIDGE_ATTEMPT: is set by the bridge/],
  [{ ...RUN, env: { EVENT_ID: '7' } }, /^env\.EVENT_ID: is set by the bridge/],
  [{ ...RUN, env: { CE_ID: '7' } }, /^env\.CE_ID: is set by the bridge/],
  [{ ...RUN, env: { X: 'a\0b' } }, /^env\.X: /],
  [{ ...RUN, user: '-root' }, /^user: must be the name of a user/],
  [{ ...RUN, user: 'a:b' }, /^user: must be the name of a user/],
  [{ ...RUN, user: -1 }, /^user: must be/],
  [{ ...RUN, timeout: '25h' }, /^timeout: must be between 10ms and 24h/],
  [{ ...RUN, concurrency: 0 }, /^concurrency: must be a whole number from 1 to 64/],
  [{ ...RUN, hold: 'orders' }, /^hold: must be the same name as approve/],
  [{ ...RUN, approve: 'orders', hold: 'others' }, /^hold: must be the same name as approve/],
  [{ ...RUN, beforeStart: '25h' }, /^beforeStart: must be between 0s and 24h/],
  [{ ...RUN, directory: '' }, /^directory: must be the path of a folder/],
];

for (const [options, fault] of FAULTS) {
  test(`${JSON.stringify(options)} has one fault, with its path`, () => {
    const [first, ...more] = faultsOf(options);
    assert.match(first ?? '', fault);
    assert.deepEqual(more, []);
  });
}

test('on Windows a user is a fault, and so is what cmd.exe would read in its own way', () => {
  const windows = (...run: string[]) => faultsOf({ run }, 'win32');
  assert.deepEqual(windows('C:\\Program Files (x86)\\drain.exe', '%PATH%', '&calc'), []);
  assert.deepEqual(windows('C:\\drain.cmd', '--fast', 'a b=c'), []);
  for (const argument of ['%PATH%', 'a&calc', '"', 'a^b', '!x!', 'a|b', '<x', 'a\nb', 'ends\\'])
    assert.match(windows('C:\\drain.CMD', '', argument).join(), /^run\.2: may contain only letters/, argument);
  assert.match(windows('C:\\a&b.bat').join(), /^run\.0: may contain only letters/);
  assert.match(faultsOf({ run: ['/bin/true'], user: 'me' }, 'win32').join('\n'), /^user: is not supported on Windows/m);
});

test('a secret with a NUL character is told by its variable, without its value', () => {
  const options = v.parse(commandOptions('linux'), { ...RUN, env: { TOKEN: { env: 'T' }, PLAIN: 'x' } });
  openSecrets(options, { T: 'hidden\0' });
  assert.deepEqual(variableFaults(options), [{ key: 'env.TOKEN', message: 'must not hold a NUL character' }]);
});
