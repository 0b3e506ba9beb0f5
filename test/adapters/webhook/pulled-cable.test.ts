// A receiver whose cable is pulled → given up at the time limit, others go on, all arrives later.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { NetworkNamespace, noNetworkNamespace } from '../../support/network-namespace.ts';
import { poll } from '../../support/poll.ts';

const HERE = import.meta.dirname;
const node = (program: string, ...args: readonly string[]) =>
  [process.execPath, join(HERE, program), ...args].join(' ');

test('without a network deliveries end at the time limit, connections are closed, other sinks continue, and everything arrives later', {
  skip: noNetworkNamespace(),
}, async (t) => {
  const { near, far, cable } = NetworkNamespace.joined(t);
  const receiver = far.startLine(node('receive.ts', '10.77.0.2', '8080'));
  const beside = near.startLine(node('receive.ts', '127.0.0.1', '8080'));
  await Promise.all([receiver.lines(1), beside.lines(1)]);
  const sender = near.startLine(
    node('deliver-steadily.ts', 'http://10.77.0.2:8080/hook', 'http://127.0.0.1:8080/hook'),
  );
  const told = (sink: string) => sender.stdout.split('\n').filter((line) => line.startsWith(`${sink} `));
  const accepted = (sink: string) => told(sink).filter((line) => line.includes(' accepted ')).length;
  await poll(() => accepted('sink-0') >= 8 && accepted('sink-1') >= 8, 'both to accept');

  cable.pull();
  const before = { behind: accepted('sink-0'), beside: accepted('sink-1') };
  await poll(
    () => told('sink-0').filter((line) => /TIMEOUT|UNREACHABLE/.test(line)).length >= 6,
    'deliveries to be given up',
  );
  assert.ok(accepted('sink-0') - before.behind <= 4, 'nothing is accepted over a pulled cable but what was under way');
  assert.ok(told('sink-0').some((line) => line.includes('BRIDGE_SINK_TIMEOUT')));
  const during = accepted('sink-1') - before.beside;
  assert.ok(during >= 10, `the other sink goes on: ${during} accepted meanwhile`);
  const sockets = Math.max(...sender.stdout.split('\n').map((line) => Number(line.split(' ')[2] ?? 0)));
  assert.ok(sockets <= 10, `no connection piles up: ${sockets} at most`);

  cable.plug();
  const queued = accepted('sink-1');
  await poll(() => accepted('sink-0') >= queued, 'all that was queued to be accepted', 60_000);
  const ids = receiver.stdout.split('\n').slice(1, -1);
  for (let key = 0; key < 4; key += 1) {
    // An answer that was lost on its way makes a repeat, right behind the first one.
    const arrived = ids.filter((id, index, all) => id.startsWith(`key-${key}:`) && all.indexOf(id) === index);
    assert.deepEqual(arrived, arrived.toSorted(), `key-${key} in order`);
  }
});
