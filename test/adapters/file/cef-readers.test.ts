// A corpus of CloudEvents as lines of CEF → ParCEFone, a strict reader, takes every one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { fileSink } from '../../../adapters/file/file.ts';
import { type EventContext, toJournalEntry } from '../../../src/cloudevents/event.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { CHANGE_NAMES } from '../../../src/model/change-names.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Change } from '../../../src/model/events.ts';
import { drillEventId } from '../../../src/model/ids.ts';
import { noParcefone, readByParcefone } from '../../far-sides/cef/parcefone.ts';
import { EVENT_ID, scheduledEvent } from '../../support/events.ts';
import { folderOf } from '../../support/folder.ts';
import { approvalChange, context, eventChange, sightChange } from '../../unit/cloudevents/changes.ts';
import { hostileText } from '../../unit/log-record/samples.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

/** One event with hostile or long texts in every place that others fill. */
interface Texts {
  readonly description: string;
  readonly resources: readonly string[];
  readonly eventType: string;
  readonly eventSource: string;
  readonly host: string;
  readonly reason: string;
  readonly eventId: string;
}

const plain = scheduledEvent();
const PLAIN: Texts = { ...plain, host: 'WestNO_0', reason: 'changed', eventId: EVENT_ID };
const LONG = 'maintenance = now | \\ 💥 '.repeat(2800);

const CORPUS: readonly Texts[] = [
  PLAIN,
  { ...PLAIN, resources: Array.from({ length: 1000 }, (_, index) => `vmss-of-a-long-name-in-west-europe_${index}`) },
  { ...PLAIN, description: LONG, reason: LONG },
  {
    ...PLAIN,
    description: '💥'.repeat(16 * 1024),
    eventType: LONG,
    eventSource: LONG,
    host: 'x'.repeat(500),
    resources: [LONG, LONG],
  },
  { ...PLAIN, description: '\\'.repeat(64 * 1024), resources: ['='.repeat(9000)] },
  { ...PLAIN, eventId: drillEventId(EVENT_ID.toLowerCase()) },
  ...fc
    .sample(fc.tuple(hostileText, hostileText, hostileText, hostileText), { numRuns: 100, seed: 40 })
    .map(([description, eventType, eventSource, host]) => ({
      ...PLAIN,
      description,
      eventType,
      eventSource,
      host,
      resources: [description, host],
    })),
];

function changesOf({ host: _, reason, ...texts }: Texts): readonly Change[] {
  const event = scheduledEvent(texts);
  const phases = ['recorded', 'submitted', 'failed'] as const;
  return [
    eventChange({ event }),
    eventChange({ event, phase: 'updated', previousStatus: 'Scheduled', changedFields: ['description', 'notBefore'] }),
    eventChange({ event, phase: 'started', previousStatus: 'Scheduled' }),
    eventChange({ event, phase: 'ended', previousStatus: 'Started', outcome: 'completed' }),
    ...phases.map((phase) => approvalChange({ event, phase, reason, approver: `team ${reason}`, policy: 'policy[0]' })),
    sightChange({ reason }),
    sightChange({ phase: 'restored' }),
  ];
}

function contextOf({ host }: Texts): EventContext {
  const vm = {
    vmId: EVENT_ID,
    tags: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`tag ${index} of ${host}`, LONG.slice(0, 256)])),
  };
  return { ...context, observer: { name: host, id: 'vm', vm } };
}

const DELIVERIES: readonly Delivery[] = CORPUS.flatMap((texts) =>
  changesOf(texts).map((change) => {
    const { id, change: name, bytes } = toJournalEntry(change, contextOf(texts));
    return { ...sampleDelivery(), id, change: name, bytes };
  }),
);

test('ParCEFone, with validation on, takes every line that the file sink writes', {
  skip: noParcefone(),
}, async (t) => {
  const directory = folderOf(t);
  const adapter = fileSink.create(
    v.parse(fileSink.options, { path: 'events.cef', format: 'cef', timeout: '4m' }),
    adapterDeps({ directory }),
  );
  const outcomes = await adapter.deliver(DELIVERIES, new AbortController().signal);
  assert.ok(outcomes.every((outcome) => outcome === 'accepted'));
  const lines = readFileSync(join(directory, 'events.cef'), 'utf8').trimEnd().split('\n');
  const read = await readByParcefone(lines);
  assert.equal(read.length, CORPUS.length * CHANGE_NAMES.length);
  assert.deepEqual(
    read.filter((each) => typeof each === 'string'),
    [],
  );
  for (const [index, fields] of read.entries()) {
    const { attributes, data } = logRecord((DELIVERIES[index] ?? assert.fail('one more')).bytes);
    assert.ok(typeof fields === 'object');
    const { cs6, cs6Label, cs1, cs1Label, externalId = '' } = fields;
    assert.deepEqual([cs6, cs6Label, cs1, cs1Label], [attributes['id'], 'id', attributes['source'], 'source']);
    const eventId = String(data['eventId'] ?? '');
    assert.equal(externalId, eventId.length > 40 ? `${eventId.slice(0, 39)}…` : eventId);
  }
});
