// The pages for users → links resolve, names exist, commands and configurations work.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { CloudEvent } from 'cloudevents';
import { ADAPTERS } from '../../adapters/index.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { sha256Hex } from '../../src/formats/canonical-json.ts';
import { CHANGE_NAMES } from '../../src/model/change-names.ts';
import { PROBLEMS, REFUSALS } from '../../src/model/problems.ts';
import { formatFault } from '../../src/schema/faults.ts';
import { VERBS } from '../../src/verbs/verbs.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../far-sides/certificate.ts';

const ROOT = join(import.meta.dirname, '../..');

const pages = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*.md', 'adapters/*/*.md'], { cwd: ROOT })
  .sort()
  .map((path) => ({ path, text: text(path) }));

function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The text of each fenced block in that language, whatever words follow it. */
function blocks(markdown: string, language: string): string[] {
  const fence = new RegExp(`^ *\`\`\`${language}(?: .*)?\\n([\\s\\S]*?)^ *\`\`\``, 'gm');
  return [...markdown.matchAll(fence)].map(([, block]) => block ?? '');
}

/** As GitHub names the headings of a page. */
function anchors(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, words]) => words ?? '');
  return headings.map((words) =>
    words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('no command of a page lets curl retry into a file: curl then fails silently if an answer with a body, such as 503, comes first', () => {
  const retrying = pages.flatMap(({ path, text: page }) =>
    page
      .split('\n')
      .filter((line) => /curl .*--retry/.test(line))
      .map((line) => [path, line]),
  );
  assert.deepEqual(
    retrying.filter(([, line = '']) => / (-o|--output) /.test(line)),
    [],
  );
});

test('every relative link of a page leads to an existing file and heading', () => {
  const broken = pages.flatMap(({ path, text: page }) =>
    [...page.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, target, anchor]) => {
      const file = target ? normalize(join(dirname(path), target)) : path;
      if (!existsSync(join(ROOT, file))) return [`${path}: ${link}`];
      return anchor && !anchors(text(file)).includes(anchor) ? [`${path}: ${link} (no such heading)`] : [];
    }),
  );
  assert.deepEqual(broken, []);
});

test('docs/README.md links to every page of docs/, and to the pages next to the code', () => {
  const index = text('docs/README.md');
  const linked = new Set(
    [...index.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => normalize(join('docs', target))),
  );
  const missing = pages.map(({ path }) => path).filter((path) => path !== 'docs/README.md' && !linked.has(path));
  assert.deepEqual(missing, []);
});

test('the README names every verb', () => {
  const readme = text('README.md');
  assert.deepEqual(
    Object.keys(VERBS).filter((verb) => !new RegExp(`scheduled-events-bridge ${verb}\\b|\`${verb}\\b`).test(readme)),
    [],
  );
});

test('every command of a page uses an existing verb with its options', async () => {
  const offences: string[] = [];
  let commands = 0;
  for (const { path, text: page } of pages) {
    for (const [command, verb = ''] of page.matchAll(
      /(?<![/.\w-])scheduled-events-bridge +([a-z][a-z-]*)[^\n`#|)]*/g,
    )) {
      const entry = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
      if (!entry) continue;
      commands++;
      const known = Object.keys((await entry.load()).options);
      for (const [, option = ''] of command.matchAll(/ --([a-z-]+)/g)) {
        if (!known.includes(option) && option !== 'help') offences.push(`${path}: ${command}`);
      }
    }
    for (const command of blocks(page, 'sh').flatMap((block) => block.split('\n'))) {
      const verb = /^ *(?:npx )?scheduled-events-bridge +([a-z][a-z-]*)/.exec(command)?.[1];
      if (verb !== undefined && !Object.hasOwn(VERBS, verb)) offences.push(`${path}: ${command}`);
    }
  }
  assert.deepEqual(offences, []);
  assert.ok(commands > 10, `only ${commands} commands were found`);
});

const CONNECTION_STRING = 'Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=aw==';

/** A certificate, its key, a connection string, or a secret. */
function anyFile(path: string): string {
  if (path.endsWith('connection-string')) return CONNECTION_STRING;
  if (path.endsWith('-key.pem')) return PRIVATE_KEY;
  if (path.endsWith('.pem')) return CERTIFICATE;
  return path.endsWith('-secret') ? webhookSecret(path) : `secret-of-${path}`;
}

test('every configuration of a page is valid', () => {
  const around = { adapters: ADAPTERS, env: anyVariable(), readFile: anyFile, directory: '/etc/bridge' };
  const configurations = pages.flatMap(({ path, text: page }) => {
    const inShell = blocks(page, 'sh').flatMap((block) =>
      [...block.matchAll(/<<'YAML'\n([\s\S]*?)^YAML/gm)].map(([, yaml]) => yaml ?? ''),
    );
    return [...blocks(page, 'yaml'), ...inShell].map((yaml) => ({
      path,
      yaml: /^version:/m.test(yaml) ? yaml : `version: 1\n${yaml}`,
    }));
  });
  for (const { path, yaml } of configurations) {
    const checked = readConfig(yaml, around);
    assert.deepEqual('faults' in checked ? checked.faults.map(formatFault) : [], [], path);
  }
  assert.ok(configurations.length >= 4);
});

function webhookSecret(name: string): string {
  return `whsec_${Buffer.alloc(32, name).toString('base64')}`;
}

/** What kubelet gives a pod. */
const IN_A_POD: Readonly<Record<string, string>> = {
  NODE_NAME: 'node-1',
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  KUBERNETES_SERVICE_PORT: '443',
};

/** An environment in which every variable is set, each to something else: a webhook's secret, a connection string, or a URL that is long enough for a token. */
function anyVariable(): Readonly<Record<string, string>> {
  const value = (name: string) => {
    const told = IN_A_POD[name];
    if (told !== undefined) return told;
    if (/(^|_)CONNECTION_STRING$/.test(name))
      return 'Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=aw==';
    return /(^|_)SECRET$/.test(name) ? webhookSecret(name) : `https://example.com/${name}/0123456789`;
  };
  return new Proxy({}, { get: (_, name) => value(String(name)) });
}

test('docs/receive/cloudevents.md describes every change', () => {
  const page = text('docs/receive/cloudevents.md');
  assert.deepEqual(
    CHANGE_NAMES.filter((name) => !page.includes(`| \`${name}\` |`)),
    [],
  );
});

test('the examples of docs/receive/cloudevents.md match their schemas, and its recipe yields its ids', () => {
  const schemas = ['change', 'approval', 'source'].map((name) => JSON.parse(text(`docs/schemas/${name}.v1.json`)));
  const ajv = new Ajv2020({ strict: false, schemas });
  formats.default(ajv);
  const page = text('docs/receive/cloudevents.md');
  const examples = blocks(page, 'json').map((block) => JSON.parse(block));
  for (const example of examples) {
    const data = example.data ?? example;
    const name = 'since' in data ? 'source' : 'approver' in data ? 'approval' : 'change';
    const validate = ajv.getSchema(`https://scheduled-events-bridge.github.io/schemas/${name}.v1.json`);
    assert.ok(validate?.(data), `${JSON.stringify(data)}: ${ajv.errorsText(validate?.errors)}`);
    if ('specversion' in example) new CloudEvent(example, true);
  }
  assert.equal(examples.length, 6);
  const [, content = '', hash] = /printf %s '([^']+)'.*# ([0-9a-f]{16})$/m.exec(page) ?? [];
  const [event] = examples;
  assert.deepEqual([sha256Hex(content, 16), event.id], [hash, `${JSON.parse(content).EventId}:updated:${hash}`]);
  assert.equal(event.traceparent.split('-')[2], sha256Hex(event.id, 16));
});

test('docs/approve/approvals.md lists every problem type, and the refusals with their status', () => {
  const page = text('docs/approve/approvals.md');
  assert.deepEqual(
    Object.keys(PROBLEMS).filter((type) => !page.includes(`\`${type}\``)),
    [],
  );
  assert.deepEqual(
    Object.entries(REFUSALS).filter(([type, { status }]) => !page.includes(`| ${status} | \`${type}\` |`)),
    [],
  );
});
