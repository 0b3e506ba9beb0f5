// The built bridge started again beside an instance route of 429 → a Preempt is told in time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeMetadata, fakeDocument } from '../../far-sides/metadata-service.ts';
import { bridgeFolder, startRun } from '../../support/running-bridge.ts';

const INSTANCE = JSON.stringify({
  compute: { vmId: 'd1', name: 'WestNO_0', subscriptionId: 's', resourceGroupName: 'g', vmScaleSetName: 'WestNO' },
});
const NOTICE_MS = 30_000;

function inMs(ms: number): string {
  return new Date(Date.now() + ms).toUTCString();
}

test('a Preempt is sent before its 30 s are over, and ended events once the VM is identified', async (t) => {
  const metadata = await FakeMetadata.start(t);
  const reboot = { EventId: 'reboot', EventType: 'Reboot', NotBefore: inMs(900_000) };
  let [isBusy, document] = [false, fakeDocument(1, reboot)];
  metadata.respond = ({ path }) => {
    if (!path.startsWith('/metadata/instance')) return { body: document };
    return isBusy ? { status: 429, headers: { 'Retry-After': '1' } } : { body: INSTANCE };
  };
  const folder = bridgeFolder(t, metadata.url, { sinks: { audit: { type: 'stdout' } } });
  const first = await startRun(t, folder);
  await first.lines(1);
  assert.equal((await first.end('SIGTERM')).code, 0);

  isBusy = true;
  const announcedMs = Date.now();
  document = fakeDocument(3, { EventId: 'preempt', EventType: 'Preempt', NotBefore: inMs(NOTICE_MS) });
  const second = await startRun(t, folder);
  const [line = ''] = await second.lines(1);
  assert.ok(Date.now() - announcedMs < NOTICE_MS);
  const { id, source, data } = JSON.parse(line) as { id: string; source: string; data: { observer: object } };
  assert.deepEqual(
    [id, source, data.observer],
    [
      'preempt:scheduled',
      '/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/westno',
      { name: 'WestNO_0', documentIncarnation: 3, affected: true },
    ],
  );
  isBusy = false;
  const [, ended = ''] = await second.lines(2);
  assert.equal((JSON.parse(ended) as { id: string }).id, 'reboot:ended');
});
