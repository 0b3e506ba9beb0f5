// The guide's smallest adapter, run as it stands on the page → the contract suite, its far side a file on disk.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CloudEvent } from 'cloudevents';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { type FarSide, testAdapter } from '../adapters/contract.ts';
import { codeBlocksOf } from './markdown-page.ts';

const ENDS_BY_ITSELF = 'a write to a file ends by itself';

const page = codeBlocksOf('docs/develop/writing-an-adapter.md');
const program = page.find(({ heading, language }) => heading === 'The smallest one' && language === 'ts')?.text ?? '';
const folder = mkdtempSync(join(tmpdir(), 'smallest-adapter-'));
after(() => rmSync(folder, { recursive: true }));

testAdapter({
  definition: await load(program),
  start,
  awayIs: 'retry',
  skip: {
    'a key that gets no answer does not hold up another': 'one file takes one write at a time',
    'a refusal is told: dead-letter at once': 'a file refuses no line',
    'an overload is told: retry, after the pause that was asked for': 'a file asks for no pause',
    'an abort ends a delivery at once, with its own reason': ENDS_BY_ITSELF,
  },
});

test('it has at most 25 lines, its imports and comments included', () => {
  const { length } = program.trimEnd().split('\n');
  assert.ok(length > 1 && length <= 25, `${length} lines`);
});

/** As if it were in `adapters/file/`, whose folders the tests leave alone. */
async function load(text: string): Promise<AdapterDefinition<unknown>> {
  const errors = new URL('../../src/errors.ts', import.meta.url).href;
  const moved = text.replace("'../../src/errors.ts'", `'${errors}'`).replace("'valibot'", `'${import.meta.resolve('valibot')}'`);
  const path = join(folder, 'file.ts');
  writeFileSync(path, moved);
  const { file } = (await import(pathToFileURL(path).href)) as { readonly file: AdapterDefinition<unknown> };
  return file;
}

/** A folder that can go and come back. */
async function start(t: TestContext): Promise<FarSide> {
  const place = mkdtempSync(join(folder, 'sink-'));
  const path = join(place, 'events.ndjson');
  t.after(() => rmSync(place, { recursive: true, force: true }));
  return {
    options: { path },
    secrets: {},
    arrivals: () => linesOf(path).map((line) => ({ bytes: Buffer.from(line), event: new CloudEvent(JSON.parse(line), true) })),
    contacts: () => Number(existsSync(path)),
    hang: () => assert.fail(ENDS_BY_ITSELF),
    isStuck: () => false,
    stuckBytes: 0,
    accept: () => {},
    leave: async () => rmSync(place, { recursive: true }),
    comeBack: async () => void mkdirSync(place),
  };
}

function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}
