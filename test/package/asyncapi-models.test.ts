// The AsyncAPI document → the parser's verdict, and models in four languages that read real events.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ADAPTERS } from '../../adapters/index.ts';
import { asyncApiDocument } from '../../src/asyncapi/document.ts';
import { exampleConfig } from '../../src/asyncapi/example-config.ts';
import { diagnosticsOf, generateModels, noAsyncApiTools } from '../far-sides/asyncapi/asyncapi-tools.ts';
import { MavenJars, onPath } from '../far-sides/maven-jars.ts';
import { type AsyncApi, asyncApiOf } from '../support/asyncapi-document.ts';

const run = promisify(execFile);
const FAR_SIDE = join(import.meta.dirname, '../far-sides/asyncapi');
const DOCUMENT = JSON.parse(JSON.stringify(asyncApiDocument(exampleConfig(ADAPTERS)))) as AsyncApi;
const jars = new MavenJars({ name: 'Jackson', pom: join(FAR_SIDE, 'pom.xml'), leastJava: 17 });
const skip = noAsyncApiTools();

interface Sample {
  readonly model: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The example of each message whose payload is an object, with a member that the document does not know. */
const SAMPLES: readonly Sample[] = Object.values(DOCUMENT.channels).flatMap(({ messages }) =>
  Object.values(messages).flatMap(({ payload, examples = [] }) => {
    const model =
      String((payload as { $ref?: string } | undefined)?.$ref)
        .split('/')
        .at(-1) ?? '';
    return examples.map((example) => ({ model, payload: { ...(example.payload as object), newMember: { a: [1] } } }));
  }),
);
const LINES = SAMPLES.map(({ model, payload }) => `${model} ${JSON.stringify(payload)}\n`).join('');
const MODELS = [...new Set(SAMPLES.map(({ model }) => model))];

const root = mkdtempSync(join(tmpdir(), 'bridge-'));
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
before(async () => {
  if (!skip) await generateModels(DOCUMENT, root);
});

/** Runs a program that writes each line again, and compares the members that are plain texts. */
async function reads(program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, PYTHONPATH: cwd },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stdin.end(LINES);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  const lines = printed.trimEnd().split('\n');
  assert.equal(lines.length, SAMPLES.length);
  for (const [index, { payload, model }] of SAMPLES.entries()) {
    const read = JSON.parse(lines[index] ?? '') as Sample['payload'];
    for (const key of ['id', 'eventId', 'source', 'severitynumber']) {
      if (key in payload && !model.endsWith('Event') === !model.endsWith('CloudEvent'))
        assert.deepEqual(read[key], payload[key], `${model} ${key}`);
    }
  }
}

test('the parser of AsyncAPI finds no fault and has no advice', { skip }, async () => {
  assert.deepEqual(await diagnosticsOf(DOCUMENT), []);
  const sinks = {
    hooks: { type: 'webhook', url: 'https://hooks.example.com/', mode: 'batch' },
    chat: { type: 'webhook', url: 'https://hooks.example.com/', body: { template: 'slack' } },
  };
  assert.deepEqual(await diagnosticsOf(asyncApiOf({ sinks })), []);
  assert.notDeepEqual(await diagnosticsOf({ ...DOCUMENT, operations: { send: { action: 'shout' } } }), []);
});

test('models for Java compile, and read the events', { skip: skip || jars.missing() }, async () => {
  const classes = join(root, 'java/classes');
  const classPath = await jars.classPath();
  await run('javac', [
    '-d',
    classes,
    '-cp',
    classPath,
    ...globSync(join(root, 'java/m/*.java')),
    join(FAR_SIDE, 'ReadModels.java'),
  ]);
  await reads(jars.java(), ['-cp', `${classPath}:${classes}`, 'ReadModels'], root);
});

test('models for Go compile, and read the events', { skip: skip || (!onPath('go') && 'there is no Go') }, async () => {
  const folder = join(root, 'go');
  const cases = MODELS.map((model) => `\t\tcase "${model}":\n\t\t\tread = new(m.${model})`).join('\n');
  writeFileSync(join(folder, 'go.mod'), 'module test\n\ngo 1.24\n');
  writeFileSync(
    join(folder, 'main.go'),
    `package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"test/m"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		var read any
		switch name {
${cases}
		}
		if err := json.Unmarshal([]byte(text), read); err != nil {
			panic(err)
		}
		again, _ := json.Marshal(read)
		fmt.Println(string(again))
	}
}
`,
  );
  await run('go', ['build', '-o', 'reader', '.'], { cwd: folder });
  await reads(join(folder, 'reader'), [], folder);
});

test('models for Python load, and read the events', { skip: skip || (await noPydantic()) }, async () => {
  await reads('python3', [join(FAR_SIDE, 'read_models.py')], join(root, 'python'));
});

test('models for TypeScript compile, and describe the events', { skip }, async () => {
  const folder = join(root, 'typescript');
  const imports = MODELS.map((model) => `import type { ${model} } from './${model}';`);
  const uses = SAMPLES.map(
    ({ model, payload }, index) =>
      `export const read${index}: ${model} = JSON.parse(${JSON.stringify(JSON.stringify(payload))});`,
  );
  writeFileSync(join(folder, 'check.ts'), [...imports, ...uses, ''].join('\n'));
  const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc');
  await run(
    tsc,
    [
      '--noEmit',
      '--strict',
      '--ignoreConfig',
      '--target',
      'es2022',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      'check.ts',
    ],
    { cwd: folder },
  );
});

async function noPydantic(): Promise<string | false> {
  return await run('python3', ['-c', 'import pydantic; assert pydantic.VERSION >= "2"']).then(
    () => false as const,
    () => 'there is no Python with pydantic 2',
  );
}
