// The guide's adapters as they stand on the page → the contract suite, on a file and a server.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CloudEvent } from 'cloudevents';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { type Arrival, type FarSide, testAdapter } from '../adapters/contract.ts';
import { receiverSwitches } from '../adapters/receiver-switches.ts';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { codeBlocksOf } from './markdown-page.ts';

const ENDS_BY_ITSELF = 'a write to a file ends by itself';

const page = codeBlocksOf('docs/develop/writing-an-adapter.md');
const smallest = programBelow('The smallest one');
const folder = mkdtempSync(join(tmpdir(), 'smallest-adapter-'));
after(() => rmSync(folder, { recursive: true }));

testAdapter({
  definition: await load(smallest, 'append'),
  start: startFile,
  awayIs: 'retry',
  skip: {
    'a key that gets no answer does not hold up another': 'one file takes one write at a time',
    'a refusal becomes a dead letter at once': 'a file refuses no line',
    'an overload is retried after the pause that the far side asks for': 'a file asks for no pause',
    'an abort ends a delivery at once, with its own reason': ENDS_BY_ITSELF,
  },
});

testAdapter({
  definition: await load(programBelow('A sink over HTTP'), 'collector'),
  start: startCollector,
  awayIs: 'retry',
});

test('the smallest one has at most 25 lines, its imports and comments included', () => {
  const { length } = smallest.trimEnd().split('\n');
  assert.ok(length > 1 && length <= 25, `${length} lines`);
});

function programBelow(title: string): string {
  return page.find(({ heading, language }) => heading === title && language === 'ts')?.text ?? '';
}

/** As if it were in a folder of `adapters/`, which the tests leave alone. */
async function load(text: string, name: string): Promise<AdapterDefinition<unknown>> {
  const place = new URL(`../../adapters/${name}/`, import.meta.url);
  const moved = text.replace(/ from '([^']+)'/g, (_, to: string) => ` from '${urlOf(to, place)}'`);
  const path = join(folder, `${name}.ts`);
  writeFileSync(path, moved);
  const loaded = (await import(pathToFileURL(path).href)) as Readonly<Record<string, AdapterDefinition<unknown>>>;
  assert.ok(loaded[name]);
  return loaded[name];
}

function urlOf(to: string, place: URL): string {
  if (to.startsWith('node:')) return to;
  return to.startsWith('.') ? new URL(to, place).href : import.meta.resolve(to);
}

/** A folder that can go and come back. */
async function startFile(t: TestContext): Promise<FarSide> {
  const place = mkdtempSync(join(folder, 'sink-'));
  const path = join(place, 'events.ndjson');
  t.after(() => rmSync(place, { recursive: true, force: true }));
  return {
    options: { path },
    secrets: {},
    arrivals: () => (existsSync(path) ? linesIn(readFileSync(path, 'utf8')).map(arrival) : []),
    contacts: () => Number(existsSync(path)),
    hang: () => assert.fail(ENDS_BY_ITSELF),
    isStuck: () => false,
    stuckBytes: 0,
    accept: () => {},
    leave: async () => rmSync(place, { recursive: true }),
    comeBack: async () => void mkdirSync(place),
  };
}

async function startCollector(t: TestContext): Promise<FarSide> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  return {
    options: {
      url: receiver.url,
      allowInsecure: true,
      allowPrivate: ['127.0.0.0/8'],
      headers: { authorization: { env: 'KEY' } },
    },
    secrets: { KEY: 'Key key-nobody-may-see' },
    arrivals: () => receiver.requests.flatMap(({ body }) => linesIn(body.toString()).map(arrival)),
    ...receiverSwitches(receiver),
  };
}

function linesIn(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

function arrival(line: string): Arrival {
  return { bytes: Buffer.from(line), event: new CloudEvent(JSON.parse(line), true) };
}
