// Requests of people and of a fuzzer → answers that the bridge's own OpenAPI document tells of.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { EXAMPLE_ID } from '../../src/http/openapi/operation.ts';
import { assertConforms } from '../far-sides/openapi-conformance.ts';
import { posts } from '../support/running-bridge.ts';
import { fillStore, HELD } from './full-store/store-content.ts';
import { APPROVER, serveBridge } from './openapi-fuzz/bridge.ts';
import { PATIENCE_MS, schemathesis, withoutSchemathesis } from './openapi-fuzz/schemathesis.ts';

const AUTHORIZATION = { Authorization: `Bearer ${APPROVER}` };

test('the answers of a bridge equal its OpenAPI document, member by member', async (t) => {
  const { url, started, ended } = await serveBridge(t);
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { ...AUTHORIZATION, ...(body && { 'Content-Type': 'application/json' }) };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
    };
    assertConforms(method, path, answer);
    return answer;
  };
  const statuses = async (...asked: [method: string, path: string, body?: object][]) => {
    const all: number[] = [];
    for (const one of asked) all.push((await ask(...one)).status);
    return all;
  };
  const approval = (EventId: string) =>
    ['POST', '/v1/approvals', { StartRequests: [{ EventId }] }] as [string, string, object];
  const hold = (EventId: string) => ['POST', '/v1/holds', { EventId, reason: 'backup' }] as [string, string, object];
  const release = (id: string, more = '') => ['DELETE', `/v1/holds/${id}${more}`] as [string, string];
  const life = (id: string) => ['GET', `/v1/approvals/${id}`] as [string, string];

  assert.deepEqual(
    await statuses(['GET', '/healthz'], ['GET', '/readyz'], ['GET', '/metrics'], ['GET', '/v1/events']),
    [200, 200, 200, 200],
  );
  assert.deepEqual(
    await statuses(life(EXAMPLE_ID), life(EXAMPLE_ID.toLowerCase()), life(started), life(ended), life('x')),
    [200, 200, 200, 200, 404],
  );
  assert.deepEqual(await statuses(hold(EXAMPLE_ID), hold(started), hold(ended), hold('x')), [201, 409, 410, 404]);
  assert.deepEqual(await statuses(approval(EXAMPLE_ID), ['GET', '/v1/events'], life(EXAMPLE_ID)), [202, 200, 200]);
  assert.deepEqual(
    await statuses(release(EXAMPLE_ID, '?approver=billing'), release('x'), release(ended)),
    [403, 404, 410],
  );
  assert.deepEqual(
    await statuses(release(EXAMPLE_ID), release(EXAMPLE_ID), life(EXAMPLE_ID), ['GET', '/v1/events']),
    [204, 404, 200, 200],
  );
  assert.deepEqual(
    await statuses(approval(EXAMPLE_ID), approval(started), approval(ended), approval('x')),
    [200, 409, 410, 404],
  );
});

test('a fuzzer that knows the OpenAPI document finds nothing', {
  skip: withoutSchemathesis,
  timeout: PATIENCE_MS + 10_000,
}, async (t) => {
  const { url, azure, errors } = await serveBridge(t);
  const directory = mkdtempSync(join(tmpdir(), 'schemathesis-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const { code, output } = await schemathesis(
    [`${url}/v1/openapi.json`, '-H', `Authorization: Bearer ${APPROVER}`, '--checks', 'all'],
    directory,
  );
  assert.equal(code, 0, output);
  t.diagnostic(/\d+ generated.*/.exec(output)?.[0] ?? '');
  assert.deepEqual(errors, []);
  assert.deepEqual(posts(azure), []);
});

/** Signs of globs, what others take for signs, and long runs of both. */
const GLOB = fc.oneof(
  fc.string({ unit: fc.constantFrom('*', '?', 'a', '-', '0', '[', '\\', '!', 'é', '😀'), maxLength: 300 }),
  fc.integer({ min: 1, max: 130 }).map((count) => `${'*?'.repeat(count)}!`),
);
const COUNT = fc.oneof(fc.integer({ min: -1, max: 1200 }), fc.constantFrom('', 'x', '1e9', '99999999999999999999'));
const QUERY = fc.oneof(
  GLOB.map((glob) => `/v1/stream?resources=${encodeURIComponent(glob)}`),
  fc
    .tuple(COUNT, COUNT, GLOB)
    .map(([limit, after, event]) => `/v1/journal?limit=${limit}&after=${after}&event=${encodeURIComponent(event)}`),
  fc.tuple(COUNT, COUNT).map(([limit, after]) => `/v1/dead-letters?limit=${limit}&after=${after}`),
  fc.tuple(COUNT, COUNT).map(([limit, after]) => `/v1/approvals/${HELD}?limit=${limit}&after=${after}`),
);

test('hard globs and pages of a full store, twenty at a time, get an answer that the OpenAPI document has', async (t) => {
  const { url, errors } = await serveBridge(t, (store) => fillStore(store, { events: 300, names: 60 }));
  const ask = async (path: string) => {
    const stop = new AbortController();
    const response = await fetch(`${url}${path}`, { headers: AUTHORIZATION, signal: stop.signal });
    // A stream has no end.
    if (path.startsWith('/v1/stream') && response.status === 200) return stop.abort();
    assertConforms('GET', path, {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
    });
  };
  const many = fc.array(QUERY, { minLength: 20, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(many, (paths) => Promise.all(paths.map(ask)).then(() => {})),
    { numRuns: 15 },
  );
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.deepEqual(errors, []);
});
