// Events at the same time and again → each handled once; in order within one scheduled event.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import type { CloudEvent } from '../../../../src/consumer/event.ts';
import { dispatcherOn } from '../../../../src/consumer/receive/dispatcher.ts';
import { type HandledStore, memoryHandledStore } from '../../../../src/consumer/receive/handled-store.ts';
import type { HandlerContext } from '../../../../src/consumer/receive/handlers.ts';
import { settle, VirtualTime } from '../../../virtual/virtual-time.ts';

function event(id: string, partitionkey = 'a', source = '/s'): CloudEvent {
  return { specversion: '1.0', id, source, type: 'com.example.any', partitionkey, data: {} };
}

/** A dispatcher with a handler that waits for the test. */
function fixture(store: HandledStore = memoryHandledStore({}, new VirtualTime())) {
  const started: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const contexts: HandlerContext[] = [];
  const onOther = ({ id }: CloudEvent, context: HandlerContext) => {
    started.push(id);
    contexts.push(context);
    const gate = Promise.withResolvers<void>();
    gates.set(id, gate);
    return gate.promise;
  };
  const dispatcher = dispatcherOn({ onOther }, store);
  const end = (id: string) => gates.get(id)?.resolve();
  const fail = (id: string) => gates.get(id)?.reject(new Error(`${id} failed`));
  return { dispatcher, started, contexts, end, fail };
}

/** A store that several processes share, with scripted answers. */
function scriptedStore(script: Partial<HandledStore>): { readonly store: HandledStore; readonly asked: string[] } {
  const asked: string[] = [];
  const note =
    <Result>(what: keyof HandledStore, fallback: Result) =>
    async (key: string) => {
      asked.push(`${what} ${key}`);
      return ((await script[what]?.(key)) ?? fallback) as Result;
    };
  return {
    store: {
      claim: note('claim', 'claimed'),
      complete: note('complete', undefined),
      abandon: note('abandon', undefined),
    },
    asked,
  };
}

test('repeats in flight wait for the first and share its success; later ones are dropped', async () => {
  const { dispatcher, started, end } = fixture();
  const results = [1, 2, 3].map(() => dispatcher.handle(event('1')));
  await settle();
  end('1');
  assert.deepEqual(await Promise.all(results), ['handled', 'repeat', 'repeat']);
  assert.equal(await dispatcher.handle(event('1')), 'repeat');
  assert.deepEqual(started, ['1']);
});

test('repeats in flight share the failure of the first, and the next one is handled again', async () => {
  const { dispatcher, started, end, fail } = fixture();
  const results = [1, 2].map(() => dispatcher.handle(event('1')));
  await settle();
  fail('1');
  for (const result of results) await assert.rejects(result, /1 failed/);
  const again = dispatcher.handle(event('1'));
  await settle();
  end('1');
  assert.equal(await again, 'handled');
  assert.deepEqual(started, ['1', '1']);
});

test('the same id from another source is another event', async () => {
  const { dispatcher, started } = fixture();
  for (const source of ['/s', '/t']) void dispatcher.handle(event('1', 'a', source));
  await settle();
  assert.deepEqual(started, ['1', '1']);
});

test('events of one scheduled event wait for each other, and others do not', async () => {
  const { dispatcher, started, end } = fixture();
  const [first] = [event('1'), event('2'), event('3', 'b')].map((each) => dispatcher.handle(each));
  await settle();
  assert.deepEqual(started, ['1', '3']);
  end('1');
  await first;
  await settle();
  assert.deepEqual(started, ['1', '3', '2']);
});

test('an event is handled even if the one before it failed', async () => {
  const { dispatcher, started, fail } = fixture();
  const first = dispatcher.handle(event('1'));
  void dispatcher.handle(event('2'));
  await settle();
  fail('1');
  await assert.rejects(first);
  await settle();
  assert.deepEqual(started, ['1', '2']);
});

test('an event that another process is handling is refused, and one that it has handled is a repeat', async () => {
  const { store } = scriptedStore({ claim: async (key) => (key === '  /s 1' ? 'busy' : 'handled') });
  const { dispatcher, started } = fixture(store);
  await assert.rejects(
    dispatcher.handle(event('1')),
    (error) => error instanceof ConsumerError && error.code === 'handled-elsewhere',
  );
  assert.equal(await dispatcher.handle(event('2')), 'repeat');
  assert.deepEqual(started, []);
});

test('an event does not count as handled if its id cannot be stored', async () => {
  const { store, asked } = scriptedStore({
    complete: () => Promise.reject(new Error('disk full')),
    abandon: () => Promise.reject(new Error('disk full too')),
  });
  const { dispatcher, end } = fixture(store);
  const handled = dispatcher.handle(event('1'));
  await settle();
  end('1');
  await assert.rejects(handled, /^Error: disk full$/);
  assert.deepEqual(asked, ['claim   /s 1', 'complete   /s 1', 'abandon   /s 1']);
});

test('close aborts the signal of running handlers, waits for them, and refuses new and waiting events', async () => {
  const { dispatcher, contexts, started, end } = fixture();
  const running = dispatcher.handle(event('1'));
  const waiting = dispatcher.handle(event('2'));
  await settle();
  assert.equal(contexts[0]?.signal.aborted, false);
  let isClosed = false;
  const closing = dispatcher.close().then(() => {
    isClosed = true;
  });
  await settle();
  assert.deepEqual([contexts[0]?.signal.aborted, isClosed], [true, false]);
  end('1');
  assert.equal(await running, 'handled');
  for (const refused of [waiting, dispatcher.handle(event('3'))])
    await assert.rejects(refused, (error) => error instanceof ConsumerError && error.code === 'closed');
  await closing;
  await dispatcher.close();
  assert.deepEqual(started, ['1']);
});

test('two dispatchers with one memory store do not handle an event at the same time', async () => {
  const store = memoryHandledStore({}, new VirtualTime());
  const [one, other] = [fixture(store), fixture(store)];
  const handled = one.dispatcher.handle(event('1'));
  await settle();
  await assert.rejects(
    other.dispatcher.handle(event('1')),
    (error) => error instanceof ConsumerError && error.code === 'handled-elsewhere',
  );
  one.fail('1');
  await assert.rejects(handled);
  void other.dispatcher.handle(event('1'));
  await settle();
  assert.deepEqual(other.started, ['1'], 'what was given up is free');
});

test('the memory store drops the oldest ids first, by their number and by their age', async () => {
  const time = new VirtualTime();
  const store = memoryHandledStore({ maxKeys: 2, maxAgeMs: 1000 }, time);
  /** Claims the key, and gives it back. */
  const claims = async () => {
    const answers = await Promise.all(['1', '2', '3'].map((key) => store.claim(key)));
    await Promise.all(['1', '2', '3'].map((key) => store.abandon(key)));
    return answers;
  };
  for (const key of ['1', '2', '3']) await store.complete(key);
  assert.deepEqual(await claims(), ['claimed', 'handled', 'handled']);
  await time.advance(500);
  await store.complete('2');
  await time.advance(600);
  assert.deepEqual(await claims(), ['claimed', 'handled', 'claimed']);
});

test('bounds that keep nothing are refused', () => {
  for (const options of [{ maxKeys: 0 }, { maxAgeMs: 0 }, { maxKeys: Number.NaN }])
    assert.throws(
      () => memoryHandledStore(options, new VirtualTime()),
      (error) => error instanceof ConsumerError && error.code === 'usage',
    );
});

test('with any repeats and failures, each event succeeds exactly once, and first attempts keep the order of their scheduled event, one at a time', async () => {
  const arrivals = fc.array(
    fc.record({ key: fc.constantFrom('a', 'b', 'c'), number: fc.nat(5), fails: fc.boolean() }),
    { maxLength: 40 },
  );
  const property = fc.asyncProperty(arrivals, async (given) => {
    const tried: string[] = [];
    const done: string[] = [];
    const running = new Set<string>();
    let failing = new Set<string>();
    const onOther = async ({ id, partitionkey = '' }: CloudEvent) => {
      assert.ok(!running.has(partitionkey), 'one at a time');
      running.add(partitionkey);
      tried.push(id);
      await Promise.resolve();
      running.delete(partitionkey);
      if (failing.delete(id)) throw new Error('not now');
      done.push(id);
    };
    const dispatcher = dispatcherOn({ onOther }, memoryHandledStore({}, new VirtualTime()));
    const events = given.map(({ key, number }) => event(`${key}${number}`, key));
    failing = new Set(given.filter(({ fails }) => fails).map(({ key, number }) => `${key}${number}`));
    const first = await Promise.allSettled(events.map((each) => dispatcher.handle(each)));
    // Sends failed events again, as senders do.
    await Promise.all(
      events.filter((_, index) => first[index]?.status === 'rejected').map((each) => dispatcher.handle(each)),
    );
    for (const key of ['a', 'b', 'c']) {
      const inOrder = (ids: readonly string[]) => [...new Set(ids.filter((id) => id.startsWith(key)))];
      assert.deepEqual(inOrder(tried), inOrder(events.map(({ id }) => id)));
    }
    assert.deepEqual(done.toSorted(), [...new Set(events.map(({ id }) => id))].sort());
  });
  await fc.assert(property, { numRuns: 200 });
});

test('a misspelled handler is refused at the start, because it would never be called', () => {
  const misspelt = { onSheduled: () => {} };
  assert.throws(() => dispatcherOn(misspelt as object, memoryHandledStore({}, new VirtualTime())), {
    code: 'usage',
    message: /no handler onSheduled/,
  });
});

test('a dispatcher without handlers is refused at the start, as if the option is misspelled', () => {
  assert.throws(() => dispatcherOn(undefined as unknown as object, memoryHandledStore({}, new VirtualTime())), {
    code: 'usage',
    message: /handlers must be an object/,
  });
});

test('if the source is not proved, the id alone is claimed, too, and given back with the rest', async () => {
  const { store, asked } = scriptedStore({ claim: async (key) => (key === '  /s 1' ? 'busy' : 'claimed') });
  await assert.rejects(dispatcherOn({}, store).handle(event('1'), { isSourceProved: false }), {
    code: 'handled-elsewhere',
  });
  assert.deepEqual(asked, ['claim    1', 'claim   /s 1', 'abandon    1']);
});

test('an event of the bridge is stored by source and id, and one of another type under a different key', async () => {
  const { store, asked } = scriptedStore({ claim: async () => 'handled' });
  const own = { ...event('1'), type: 'io.github.scheduled-events-bridge.scheduled.v1' };
  for (const isSourceProved of [true, false]) {
    await dispatcherOn({}, store).handle(own, { isSourceProved });
    await dispatcherOn({}, store).handle(event('1'), { isSourceProved });
  }
  assert.deepEqual(asked, ['claim /s 1', 'claim   /s 1', 'claim  1', 'claim    1']);
});

test('two copies at the same time count as one event, also if the source of one is not proved', async () => {
  const { dispatcher, started, end } = fixture();
  const results = [dispatcher.handle(event('1')), dispatcher.handle(event('1'), { isSourceProved: false })];
  await settle();
  end('1');
  assert.deepEqual(await Promise.all(results), ['handled', 'repeat']);
  assert.deepEqual(started, ['1']);
});
