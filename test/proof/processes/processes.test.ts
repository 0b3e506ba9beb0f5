// What one world saw, changed by hand → what the oracle finds.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Fault } from '../part.ts';
import type { Arrival } from './far-sides.ts';
import { judge } from './oracle.ts';
import { idOf, type Played } from './played.ts';
import { Waits } from './waits.ts';
import { World } from './world.ts';

const QUIET = { seed: 7, faults: [], killsInEachStep: false, hasBrokers: false };

test('the oracle finds nothing in what a bridge did, and each thing that is changed in it', async (t) => {
  const world = await World.open(t, { ...QUIET, name: 'quiet' });
  // Without what a busy machine excuses.
  const played = { ...(await world.play()), waits: new Waits() };
  assert.deepEqual(judge(played), []);
  const audit = [...(played.arrivals.get('audit') ?? [])];
  const [first, second] = [at(audit, idOf(stepOf(played, 0))), at(audit, idOf(stepOf(played, 1)))];
  const with_ = (arrivals: readonly Arrival[]) => ({
    ...played,
    arrivals: new Map([...played.arrivals, ['away', arrivals]]),
  });
  const other = { ...first, text: first.text.replace('"specversion"', ' "specversion"') };
  const invented = { ...second, text: second.text.replaceAll(/"id":"[^"]+"/g, '"id":"any:started"') };
  const found = (changed: Played) => [...new Set(judge(changed).map(({ fault }) => fault))];
  const expected: readonly (readonly [Fault, readonly Arrival[]])[] = [
    ['lost', audit.filter((each) => each !== first)],
    ['twice', [...audit, second]],
    ['altered', audit.map((each) => (each === first ? other : each))],
    ['misordered', audit.toReversed()],
    ['invented', [...audit, invented]],
  ];
  for (const [fault, arrivals] of expected) assert.deepEqual(found(with_(arrivals)), [fault]);
  const [repeat] = judge(with_([...audit, second]));
  assert.match(repeat?.what ?? '', /sent again, -?\d+ ms later; processes: stopped with 0 at \d+ ms, after \d+ ms$/);
  // A stop in good order, with which each world ends, excuses nothing.
  for (const sink of ['file', 'syslog', 'audit'] as const) {
    const arrivals = played.arrivals.get(sink) ?? [];
    const changed = new Map([...played.arrivals, [sink, [...arrivals, at(arrivals, idOf(stepOf(played, 3)))]]]);
    assert.deepEqual(found({ ...played, arrivals: changed }), ['twice'], sink);
  }
  // One that took its whole time may have ended without the receipts of what was still running.
  const [stop] = played.bridge.gone;
  assert.ok(stop !== undefined && stop.tookMs < 8000);
  const [last, again] = [
    { ...second, readMs: stop.atMs - 100 },
    { ...second, atMs: stop.atMs + 100 },
  ];
  for (const [tookMs, what] of [
    [7900, ['twice']],
    [8000, []],
  ] as const) {
    const bridge = { gone: [{ ...stop, tookMs }] } as unknown as Played['bridge'];
    const arrivals = audit.flatMap((each) => (each === second ? [last] : [each]));
    assert.deepEqual(found({ ...with_([...arrivals, again]), bridge }), what);
  }
  const hurt = played.arrivals.get('hurt') ?? [];
  for (const [readMs, what] of [
    [null, []],
    [performance.now(), ['twice']],
  ] as const) {
    const again = { ...second, readMs };
    const arrivals = hurt.flatMap((each) => (each.text === again.text ? [again, again] : [each]));
    assert.deepEqual(found({ ...played, arrivals: new Map([...played.arrivals, ['hurt', arrivals]]) }), what);
  }
  // What follows on a connection shows that the answers before it were read.
  assert.ok(hurt.filter(({ readMs }) => readMs !== null).length >= hurt.length / 2);
  const [post] = played.service.posts;
  assert.ok(post !== undefined);
  played.service.posts.push({ ...post, atMs: post.atMs + 1 });
  assert.deepEqual(found(played), ['twice']);
  // Its limit of 1 s may have passed while the bridge had no processor.
  const waits = new Waits();
  waits.add(post.atMs + 600, 600);
  assert.deepEqual(found({ ...played, waits }), []);
  played.service.posts.splice(1, 1, { ...post, eventIds: ['OTHER'], isAccepted: false });
  assert.deepEqual(found(played), ['forbidden', 'twice']);
});

function stepOf(played: Played, index: number) {
  const step = played.steps[index];
  assert.ok(step !== undefined);
  return step;
}

function at(arrivals: readonly Arrival[], id: string): Arrival {
  const found = arrivals.find(({ text }) => text.includes(`"id":"${id}"`));
  assert.ok(found !== undefined, id);
  return found;
}
