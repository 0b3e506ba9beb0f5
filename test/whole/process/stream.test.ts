// A bridge that is killed, or reloaded → nothing lost in its stream; it ends for who may not read.
import assert from 'node:assert/strict';
import test from 'node:test';
import { stream as consume } from '../../../src/consumer.ts';
import { startSimulator } from '../../../src/simulator.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { type EventStream, readStream } from '../../support/event-stream.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { bridgeFolder, startRun, TOKEN, urlOf } from '../../support/running-bridge.ts';

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

test('a reader that starts in the middle gets what is listed, and over kill -9 all that follows, once', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const folder = bridgeFolder(t, azure.url, { sinks: { out: { type: 'stdout' } } });
  const [over, first, second] = [azure.schedule(), azure.schedule(), azure.schedule()].map(({ EventId }) =>
    String(EventId).toLowerCase(),
  );
  const program = await startRun(t, folder);
  const journal = await readStream(t, `${urlOf(program)}/v1/stream?after=0`);
  await journal.until(() => journal.events.length === 3);
  azure.cancel(over ?? '');
  azure.start(second ?? '');
  await journal.until(() => journal.events.length === 5);
  const begin = await readStream(t, `${urlOf(program)}/v1/stream?begin=listed`);
  // The end of the first event is in the same document, and so behind the start of the third.
  await begin.until(() => begin.text.includes(':\nid: 5\n\n'));
  await program.end('SIGKILL');
  const again = await startRun(t, folder);
  azure.cancel(first ?? '');
  const resumed = await readStream(t, `${urlOf(again)}/v1/stream?begin=listed`, { 'last-event-id': '5' });
  await resumed.until(() => resumed.events.length === 1);
  const idsOf = ({ events }: EventStream) => events.map(({ data }) => (JSON.parse(data) as { id: string }).id);
  assert.deepEqual([...idsOf(begin), ...idsOf(resumed)], [`${first}:scheduled`, `${second}:started`, `${first}:ended`]);
});

test('a reload ends the streams of readers who lost their right, and no others; the metric counts the rest', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const folder = folderOf(t);
  const sections = (names: readonly string[]) => ({
    http: {
      listen: '0.0.0.0:0',
      allowInsecure: true,
      readers: Object.fromEntries(names.map((name) => [name, { token: { env: name } }])),
    },
  });
  const own = bridgeFolder(t, azure.url, sections(['GRAFANA', 'DESK']), folder);
  const program = await startRun(t, own, { env: { GRAFANA: TOKEN, DESK: 'a-desk-of-enough-length' } });
  const url = urlOf(program).replace('0.0.0.0', '127.0.0.1');
  const follow = (token: string) => readStream(t, `${url}/v1/stream`, { authorization: `Bearer ${token}` });
  const [revoked, left] = await Promise.all([follow(TOKEN), follow('a-desk-of-enough-length')]);
  const readers = async () => /stream_readers (\d+)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
  assert.equal(await readers(), '2');
  bridgeFolder(t, azure.url, sections(['DESK']), folder);
  program.child.kill('SIGHUP');
  await revoked.until(() => revoked.isEnded);
  assert.equal((await follow(TOKEN)).status, 401);
  azure.schedule();
  await left.until(() => left.events.length === 1);
  assert.equal(left.isEnded, false);
  // An answer is shared for a second.
  await poll(async () => (await readers()) === '1', 'one reader in the metric');
});

test('with `ca` the library reads from a bridge with a certificate that the machine does not trust; without it, it says so', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const authority = await CertificateAuthority.create(t);
  const { certFile, keyFile } = await authority.issue('IP:127.0.0.1');
  const http = { listen: '127.0.0.1:0', tls: { cert: certFile, key: keyFile } };
  const url = urlOf(await startRun(t, bridgeFolder(t, azure.url, { http })));
  assert.match(url, /^https:/);
  const eventId = azure.schedule().EventId;
  const came = Promise.withResolvers<string>();
  const onScheduled = ({ data }: { data: { eventId: string } }) => came.resolve(data.eventId);
  const trusting = consume({ url, ca: authority.cert, after: 0, handlers: { onScheduled } });
  t.after(() => trusting.close());
  assert.equal(await came.promise, eventId);
  const told = Promise.withResolvers<string>();
  const handlers = { onScheduled: () => told.resolve('an event') };
  const doubting = consume({ url, after: 0, handlers, onError: (error) => told.resolve(String(error)) });
  t.after(() => doubting.close());
  assert.match(await told.promise, /the stream of the bridge broke: .*certificate/);
});
