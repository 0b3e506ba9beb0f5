// Readers who ask within a second → the same answer, made once.
import assert from 'node:assert/strict';
import test from 'node:test';
import { onceASecond } from '../../../src/bridge/http-interface.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

test('all callers within a second, or during the work, get the same result; a failure too', async () => {
  const time = new VirtualTime();
  const makings: PromiseWithResolvers<object>[] = [];
  const ask = onceASecond(() => {
    const making = Promise.withResolvers<object>();
    makings.push(making);
    return making.promise;
  }, time);
  const first = ask();
  await time.advance(5000);
  const second = ask();
  assert.equal(makings.length, 1);
  makings[0]?.resolve({});
  assert.equal(await first, await second);
  const third = ask();
  assert.equal(makings.length, 2);
  makings[1]?.reject(new Error('away'));
  await assert.rejects(third, { message: 'away' });
  await assert.rejects(ask(), { message: 'away' });
  await time.advance(1000);
  void ask();
  assert.equal(makings.length, 3);
});
