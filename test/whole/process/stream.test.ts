// A bridge that is killed and started again → its stream loses nothing and repeats nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startSimulator } from '../../../src/simulator.ts';
import { type EventStream, readStream } from '../../support/event-stream.ts';
import { bridgeFolder, startRun, urlOf } from '../../support/running-bridge.ts';

test('over kill -9 a reader that resumes by position has every CloudEvent once', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const folder = bridgeFolder(t, azure.url, { sinks: { out: { type: 'stdout' } } });
  const seen: number[] = [];
  const changes: string[] = [];
  let position: number | null = null;
  const follow = async (url: string): Promise<EventStream> => {
    const given = position === null ? {} : { 'last-event-id': String(position) };
    const stream = await readStream(t, `${url}/v1/stream`, given);
    position ??= Number(stream.headers['journal-position']);
    return stream;
  };
  for (let round = 0; round < 3; round++) {
    const program = await startRun(t, folder);
    const stream = await follow(urlOf(program));
    const wanted = seen.length + stream.events.length + 1;
    azure.schedule();
    await stream.until(() => seen.length + stream.events.length >= wanted);
    // By the signal of a service manager at last: that ends a stream at once.
    await program.end(round < 2 ? 'SIGKILL' : 'SIGTERM');
    await stream.until(() => stream.isEnded);
    for (const { id, event } of stream.events) {
      seen.push(id);
      changes.push(event);
      position = id;
    }
  }
  assert.equal(new Set(seen).size, seen.length);
  assert.deepEqual(
    seen,
    Array.from({ length: seen.length }, (_, index) => (seen[0] ?? 0) + index),
  );
  assert.ok(changes.filter((change) => change === 'scheduled').length === 3, changes.join());
});
