// Lists on the pages for users → the same as in the code, in both directions.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ADAPTERS } from '../../adapters/index.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { CHANGE_NAMES } from '../../src/model/change-names.ts';
import { LANE_STATES } from '../../src/model/deliveries.ts';
import { PROBLEMS } from '../../src/model/problems.ts';
import { EXIT } from '../../src/verbs/verb.ts';
import { VERBS } from '../../src/verbs/verbs.ts';

const ROOT = join(import.meta.dirname, '../..');

/** All pages but the CHANGELOG, which also names what is no longer there. */
const PAGES = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*.md', 'adapters/**/*.md', 'test/*.md'], { cwd: ROOT })
  .filter((path) => path !== 'CHANGELOG.md')
  .map((path) => ({ path, text: text(path) }));

function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** First groups of all matches, each once, sorted. */
function names(within: string, pattern: RegExp): readonly string[] {
  return [...new Set([...within.matchAll(pattern)].map(([, name = '']) => name))].sort();
}

/** The text from the first to the second mark. */
function between(path: string, from: string, to: string): string {
  const page = text(path);
  const start = page.indexOf(from);
  assert.notEqual(start, -1, `${path} has no "${from}"`);
  return page.slice(start, page.indexOf(to, start + from.length));
}

/**
 * Names that look like error codes: variables of the environment, the code of the guide's adapter, the form of all
 * codes.
 */
const NO_CODES = [
  'BRIDGE_ATTEMPT',
  'BRIDGE_RUN',
  'BRIDGE_TOKEN',
  'BRIDGE_URL',
  'BRIDGE_APPEND_FAILED',
  'BRIDGE_AREA_WHAT',
];

test('every error code that a page names exists, and every family such as BRIDGE_SINK_* has codes', () => {
  const codes: readonly string[] = ERROR_CODES;
  const isKnown = (name: string) =>
    name.endsWith('_') ? codes.some((code) => code.startsWith(name)) : [...codes, ...NO_CODES].includes(name);
  const unknown = PAGES.flatMap(({ path, text: page }) =>
    names(page, /\b(BRIDGE_[A-Z_]+)/g)
      .filter((name) => !isKnown(name))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

test('every metric that a page names is in docs/operate/metrics.md, which is compared with the code', () => {
  const listed = names(text('docs/operate/metrics.md'), /^\| `(scheduled_events_bridge_\w+)` \|/gm);
  // A page may look for several by their beginning.
  const isKnown = (name: string) =>
    listed.some((metric) => metric.startsWith(name.replace(/_(bucket|sum|count)$/, '')));
  const unknown = PAGES.flatMap(({ path, text: page }) =>
    names(page, /\b(scheduled_events_bridge_\w+)/g)
      .filter((name) => !isKnown(name))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

/** A value of the chart; names of the Elastic Common Schema on the page of log fields. */
const isOfOthers = (path: string, name: string) =>
  name === 'store.hostPath' || (path === 'docs/operate/log-fields.md' && /^cloudevents\.[a-z]+$/.test(name));

test('every key of the configuration that a page names is in docs/operate/configuration.md, which is compared with the code', () => {
  const listed = names(text('docs/operate/configuration.md'), /^\| `([A-Za-z.[\]]+)` \|/gm);
  const isKnown = (name: string) =>
    listed.some((key) => key === name || key.startsWith(`${name}.`) || key.startsWith(`${name}[`));
  const unknown = PAGES.flatMap(({ path, text: page }) =>
    names(page, /`((?:metadata|cloudevents|publish|store|http|approvals|log)\.[a-z][A-Za-z.]*)(?:: [^`]*)?`/g)
      .filter((name) => !isKnown(name) && !isOfOthers(path, name))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

const TYPES = ADAPTERS.map(({ type }) => type).sort();

test("the pages that list the sinks' options list all of them", () => {
  const keys = between('docs/operate/configuration.md', 'The keys of each type:', 'What receivers');
  assert.deepEqual(names(keys, /adapters\/([a-z-]+)\/README\.md/g), TYPES);
  const options = between('docs/README.md', 'Options of each sink:', '\n\n');
  // The paragraph ends with the kit of sinks over HTTP.
  assert.deepEqual(
    names(options, /adapters\/([a-z-]+)\/README\.md/g).filter((name) => name !== 'http'),
    TYPES,
  );
});

test('docs/operate/command-line.md lists every verb and every exit code', () => {
  const page = text('docs/operate/command-line.md');
  assert.deepEqual(names(page, /^\| `([a-z-]+)(?: test)?` \|/gm), Object.keys(VERBS).sort());
  assert.deepEqual(
    names(page, /^\| (\d+) \|/gm).map(Number),
    [...new Set(Object.values(EXIT))].sort((one, other) => one - other),
  );
});

test('docs/receive/cloudevents.md has a row for every change, and docs/operate/configuration.md names them for filters', () => {
  const changes = [...CHANGE_NAMES].sort();
  assert.deepEqual(names(between('docs/receive/cloudevents.md', '## Types', '\n## '), /^\| `([a-z.]+)` \|/gm), changes);
  assert.deepEqual(
    names(
      between('docs/operate/configuration.md', '| `sinks.NAME.filter.changes`', '\n').split(' | ')[2] ?? '',
      /`([a-z.]+)`/g,
    ),
    changes,
  );
});

test("docs/operate/delivery.md and docs/operate/metrics.md list the states of a sink's lane", () => {
  const states = [...LANE_STATES].sort();
  assert.deepEqual(
    names(between('docs/operate/delivery.md', "shows each sink's state (", ')'), /`([a-z ]+)`/g),
    states,
  );
  const row = between('docs/operate/metrics.md', '| `scheduled_events_bridge_sink_state`', '\n').split(' | ')[3] ?? '';
  assert.deepEqual(names(row, /`([a-z ]+)`/g), states);
});

test('docs/approve/approvals.md lists no problem type that does not exist', () => {
  const answers = between('docs/approve/approvals.md', '## Answers', '\n## ');
  const types = names(answers, /^\| [45]\d\d \| `([a-z-]+)` \|/gm);
  assert.deepEqual(
    types.filter((type) => !Object.hasOwn(PROBLEMS, type)),
    [],
  );
  assert.ok(types.length > 15);
});
