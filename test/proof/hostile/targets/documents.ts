// Answers of the metadata service, lease files → what the bridge reads of them, and a judge.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressInLease, addressInRegistry, declaredNames } from '../../../../src/metadata/dhcp-option.ts';
import { parseDocument } from '../../../../src/metadata/document.ts';
import { parseInstance } from '../../../../src/metadata/instance.ts';
import type { ScheduledEventsDocument } from '../../../../src/model/events.ts';
import { EXAMPLE_EVENT } from '../../../far-sides/metadata-service.ts';
import { invented, isRecord, jsonOf, lost, type Target, textsIn, type Verdict } from '../target.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures');

const event = (fields: object) => ({ ...EXAMPLE_EVENT, ...fields });
const DOCUMENTS = [
  { DocumentIncarnation: 1, Events: [] },
  { DocumentIncarnation: 2, Events: [EXAMPLE_EVENT] },
  { DocumentIncarnation: '12', Events: [event({ EventStatus: 'Started', NotBefore: '' }), event({ EventId: 'B' })] },
  {
    DocumentIncarnation: 3,
    Events: [
      event({ Resources: ['_a', 'b', 'B'], DurationInSeconds: '-1' }),
      event({ NotBefore: '2022-04-11T22:26:58.123+02:00', EventSource: 'User', Description: 'é😀' }),
    ],
  },
];
const INSTANCE = {
  compute: {
    ...{ name: 'web_0', vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6', subscriptionId: 'S', location: 'westeurope' },
    ...{ resourceGroupName: 'G', vmScaleSetName: 'web', tagsList: [{ name: 'team', value: 'blue' }], zone: '1' },
  },
  network: { interface: [{ ipv4: { ipAddress: [{ privateIpAddress: '10.0.0.4' }] } }] },
};

/** A number from 0 to 2^53-1, or its decimal text. */
function isIncarnation(value: unknown): boolean {
  const number = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0;
}

/** Of a document, by section 4. */
const MOST_VALUES = 100_000;

/** A good document, but for the number of its values. */
function crowdedDocument(values: number): Buffer {
  return Buffer.from(`{"DocumentIncarnation":1,"Events":[],"More":[${Array(values).fill('0').join()}]}`);
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + valuesIn(each), 1);
}

function isGood(input: Buffer): boolean {
  const json = jsonOf(input);
  return isRecord(json) && isIncarnation(json['DocumentIncarnation']) && Array.isArray(json['Events']);
}

/** The text as the bridge has it, or null for a value that is not a text. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value.toWellFormed() : null;
}

/** Every event is one of the input's entries, with its status and its own texts. */
function judgeDocument(input: Buffer, output: unknown): Verdict {
  const { events, statusless, complete } = output as ScheduledEventsDocument;
  if (input.length === 0) return events.length === 0 ? null : invented('an empty body has events');
  if (!isGood(input)) return invented('a body that is not a good document was read');
  // Fewer bytes cannot have so many values.
  if (input.length > MOST_VALUES && valuesIn(jsonOf(input)) > MOST_VALUES)
    return invented(`a document with more than ${MOST_VALUES} values was read`);
  const entries = ((jsonOf(input) as { Events: unknown[] }).Events ?? []).filter(isRecord);
  const idOf = (entry: Record<string, unknown>) => textOf(entry['EventId']);
  for (const { eventId, eventStatus, eventType, description, resources } of events) {
    const given = entries.filter((entry) => idOf(entry) === eventId);
    const isGiven = given.some(
      (entry) =>
        textOf(entry['EventStatus'])?.toLowerCase() === eventStatus.toLowerCase() &&
        (eventType === '' || textOf(entry['EventType']) === eventType) &&
        (description === '' || textOf(entry['Description']) === description) &&
        resources.length <= (Array.isArray(entry['Resources']) ? entry['Resources'].length : 0),
    );
    if (!isGiven) return invented(`an event that is not listed: ${JSON.stringify(eventId)}`);
  }
  const keys = new Set(entries.map((entry) => idOf(entry)?.toLowerCase()));
  if (statusless.some((key) => !keys.has(key))) return invented('an id that is not listed');
  const ids = new Set(events.map(({ eventId }) => eventId.toLowerCase()));
  if (ids.size !== events.length) return invented('an event twice');
  // No event disappears: a complete document has one for each readable entry, drills excepted.
  const readable = entries.filter(
    (entry) => idOf(entry) && /^(?:scheduled|started)$/i.test(textOf(entry['EventStatus']) ?? ''),
  );
  const missing = readable.filter((entry) => !ids.has(idOf(entry)?.toLowerCase() ?? ''));
  if (missing.some((entry) => !idOf(entry)?.toLowerCase().startsWith('drill-'))) return lost('an event is lost');
  const isWhole = (jsonOf(input) as { Events: unknown[] }).Events.every(
    (entry) => isRecord(entry) && Boolean(idOf(entry)),
  );
  return complete === isWhole ? null : `complete is ${complete}`;
}

const json = (...values: readonly unknown[]) => values.map((value) => Buffer.from(JSON.stringify(value)));
const leases = globSync(['leases/*.{leases,lease,conf,txt}', 'leases/*/*'], { cwd: FIXTURES }).map((path) =>
  readFileSync(join(FIXTURES, path)),
);

const isAddress = (value: unknown) =>
  value === null ||
  (/^(\d{1,3})(\.\d{1,3}){3}$/.test(String(value)) &&
    String(value)
      .split('.')
      .every((part) => Number(part) < 256));

export const DOCUMENT_TARGETS: readonly Target[] = [
  ...['2020-07-01', '2017-03-01'].map(
    (version): Target => ({
      name: `document ${version}`,
      kind: 'document',
      material: {
        samples: json(...DOCUMENTS),
        words: ['Scheduled', 'Started', 'drill-x', 'Freeze', 'Preempt'],
        crowd: { of: crowdedDocument, most: MOST_VALUES },
      },
      run: (input) => parseDocument(input, version),
      judge: judgeDocument,
      judgeError: (input) => {
        if (input.equals(crowdedDocument(MOST_VALUES / 2))) return lost('a good document was refused');
        const isSmall = input.length < 10_000 && !/\[{100}|(?:\{"[^"]*":){100}/.test(input.toString('latin1'));
        return isSmall && isGood(input) && levelsOf(jsonOf(input)) < 100 ? lost('a good document was refused') : null;
      },
    }),
  ),
  {
    name: 'instance metadata',
    kind: 'document',
    material: { samples: json(INSTANCE) },
    run: parseInstance,
    judge: (input, output) => inventedText(input, output),
  },
  {
    name: 'lease files',
    kind: 'document',
    material: { samples: leases, form: 'bytes', words: ['unknown-245', 'OPTION_245=', 'REG_BINARY'] },
    run: (input) => {
      const text = input.toString();
      const names = declaredNames(text);
      return [addressInLease(text, names), addressInRegistry(text)];
    },
    judge: (_, output) => ((output as unknown[]).every(isAddress) ? null : `not an address: ${output}`),
  },
];

/** Texts of an output that are neither in the input, in any case, nor well-formed copies of its texts. */
function inventedText(input: Buffer, output: unknown): Verdict {
  const given = textsIn(jsonOf(input)).map((text) => text.toWellFormed().toLowerCase());
  const values = textsIn(Object.values(output as object)).filter((text) => text.length > 60 && !text.startsWith('/'));
  const unknown = values.find((text) => !given.some((one) => one.includes(text.toLowerCase())));
  return unknown === undefined ? null : invented(`a text that was not given: ${unknown.slice(0, 100)}`);
}

function levelsOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0;
}
