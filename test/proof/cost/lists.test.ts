// The lists in the code → a row of the proof for each route, verb, sink, source and far side.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ADAPTERS } from '../../../adapters/index.ts';
import { consoleRoutes } from '../../../src/http/console-routes.ts';
import { VERBS } from '../../../src/verbs/verbs.ts';
import { HttpFixture } from '../../virtual/http-fixture.ts';
import { HOSTILE_OTHERS, HOSTILE_SINKS, HOSTILE_SOURCES } from './far-sides.ts';
import { HOSTILE_PATHS } from './requests.ts';
import { SHIPPED_FLAGS } from './shipped.ts';
import { VERB_TRIALS } from './verbs.ts';

const ROOT = join(import.meta.dirname, '../../..');

const same = (rows: object, known: readonly string[]) => assert.deepEqual(Object.keys(rows).sort(), [...known].sort());

test('each route gets hostile requests', () => {
  const all = [...new HttpFixture().parts().routes, ...consoleRoutes(() => true, { refuseHost: () => null })];
  const routes = all.map(({ method, path }) => `${method} ${path}`);
  // The files of the console are as its page.
  same(
    HOSTILE_PATHS,
    routes.filter((route) => !route.startsWith('GET /console/')),
  );
});

test('each verb gets its largest input', () => same(VERB_TRIALS, Object.keys(VERBS)));

test('each type of sink and of source has a hostile far side', () => {
  same(
    HOSTILE_SINKS,
    ADAPTERS.map(({ type }) => type),
  );
  same(
    HOSTILE_SOURCES,
    ADAPTERS.filter(({ source }) => source !== undefined).map(({ type }) => type),
  );
});

test('each file of the bridge that sends an HTTP request has a hostile far side', () => {
  const files = globSync('{src,adapters}/**/*.ts', { cwd: ROOT }).filter(
    (path) =>
      !/^src\/(?:simulator|verbs|consumer|net)\//.test(path) &&
      /\b(?:(?:exchange|sendRequest)\b[^;]*from '[./]+(?:src\/)?net\/http-exchange\.ts'|createDefaultHttpClient\()/.test(
        readFileSync(join(ROOT, path), 'utf8'),
      ),
  );
  same(HOSTILE_OTHERS, files);
});

test('the limit of the memory and the flags are those that are shipped', () => {
  const shipped = (file: string) => readFileSync(join(ROOT, 'deploy', file), 'utf8');
  assert.match(shipped('container/compose.yaml'), /mem_limit: 96m/);
  assert.match(shipped('helm/scheduled-events-bridge/values.yaml'), /memory: 96Mi/);
  for (const flag of SHIPPED_FLAGS) assert.ok(shipped('container/layout.ts').includes(flag), flag);
});
