// The console's files as they are served: headers, size, names, Host, on and off (behaviour 11.22).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { Callers } from '../../../src/http/callers.ts';
import { consoleRoutes } from '../../../src/http/console-routes.ts';
import { HttpFixture } from '../../virtual/http-fixture.ts';

const SOURCES = join(import.meta.dirname, '../../../src');
const namesOf = (folder: string) => readdirSync(join(SOURCES, folder)).sort();

interface Settings {
  readonly isOn?: () => boolean;
  readonly requireToken?: boolean;
}

async function serveConsole(
  t: TestContext,
  { isOn = () => true, requireToken = false }: Settings = {},
): Promise<HttpFixture> {
  const fixture = new HttpFixture();
  const host = '127.0.0.1';
  const authenticate = async () => ({ outcome: 'nobody', detail: 'Nobody has this token.' }) as const;
  const known = { authenticate, hasApprovers: false, isAdmin: () => false };
  const callers = new Callers({ known, requireToken, host, deps: fixture.time });
  await fixture.start(t, { ...fixture.parts(), routes: consoleRoutes(isOn, callers) });
  return fixture;
}

const paths = () => consoleRoutes(() => true, { refuseHost: () => null }).map(({ path }) => path);

test('every file of the page and of the shared parts is served, and no other', () => {
  const own = namesOf('http/console').map((name) => (name === 'index.html' ? '/' : `/console/${name}`));
  assert.deepEqual(paths().sort(), [...own, ...namesOf('page/parts').map((name) => `/console/parts/${name}`)].sort());
});

test('every file may run only its own scripts and ask only its own server, stands in no frame, and is never kept', async (t) => {
  const fixture = await serveConsole(t);
  for (const path of paths()) {
    const { status, headers } = await fixture.send('GET', path);
    assert.equal(status, 200, path);
    assert.match(String(headers['content-type']), /; charset=utf-8$/, path);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const others = [
      'x-content-type-options',
      'cache-control',
      'referrer-policy',
      'cross-origin-opener-policy',
      'x-frame-options',
    ];
    assert.deepEqual(
      others.map((name) => headers[name]),
      ['nosniff', 'no-store', 'no-referrer', 'same-origin', 'DENY'],
    );
  }
});

test('all of it has at most 130 KB unzipped, and makes markup of nothing', async (t) => {
  const fixture = await serveConsole(t);
  const texts = await Promise.all(paths().map(async (path) => (await fixture.send('GET', path)).text));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes <= 130 * 1000, `${bytes} bytes`);
  for (const text of texts)
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\bstyle="|\bon\w+="/);
  assert.match(
    readFileSync(join(SOURCES, 'http/console/index.html'), 'utf8'),
    /<script type="module" src="console\/console\.js"><\/script>/,
  );
});

test('errors link to the pages that the alerts link to', () => {
  const root = join(SOURCES, '..');
  const [, pages] =
    /runbook_url: '(.*)alerts\.md#/.exec(readFileSync(join(root, 'deploy/monitoring/rules.yaml'), 'utf8')) ?? [];
  const page = readFileSync(join(SOURCES, 'http/console/index.html'), 'utf8');
  assert.ok(pages !== undefined && page.includes(`<link rel="help" href="${pages}">`), pages);
});

test('it is added and removed while the bridge runs; without it there is no such route, for any method', async (t) => {
  let isOn = false;
  const fixture = await serveConsole(t, { isOn: () => isOn });
  assert.deepEqual([(await fixture.send('GET', '/')).status, (await fixture.send('POST', '/')).status], [404, 404]);
  assert.equal((await fixture.send('GET', '/console/console.js')).status, 404);
  isOn = true;
  assert.deepEqual([(await fixture.send('GET', '/')).status, (await fixture.send('POST', '/')).status], [200, 405]);
});

test('under a foreign host name it is 421 at loopback; elsewhere, if a token guards all data, it is served', async (t) => {
  const host = { headers: { host: 'rebound.example' } };
  assert.equal((await (await serveConsole(t)).send('GET', '/', host)).status, 421);
  assert.equal((await (await serveConsole(t, { requireToken: true })).send('GET', '/', host)).status, 200);
});

test('a token in the URL of the page is refused', async (t) => {
  const fixture = await serveConsole(t);
  for (const name of ['token', 'access_token'])
    assert.equal((await fixture.send('GET', `/?${name}=secret`)).status, 400);
});
