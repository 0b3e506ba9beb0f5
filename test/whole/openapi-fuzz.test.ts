// Requests of people and of a fuzzer → answers that the bridge's own OpenAPI document tells of.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { EXAMPLE_ID } from '../../src/http/openapi/operation.ts';
import { assertConforms } from '../far-sides/openapi-conformance.ts';
import { posts } from '../support/running-bridge.ts';
import { APPROVER, serveBridge } from './openapi-fuzz/bridge.ts';
import { PATIENCE_MS, schemathesis, withoutSchemathesis } from './openapi-fuzz/schemathesis.ts';

const AUTHORIZATION = { Authorization: `Bearer ${APPROVER}` };

test('what a bridge answers is what its OpenAPI document tells, member by member', async (t) => {
  const { url, started, ended } = await serveBridge(t);
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { ...AUTHORIZATION, ...(body && { 'Content-Type': 'application/json' }) };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const answer = { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
    assertConforms(method, path, answer);
    return answer;
  };
  const statuses = async (...asked: [method: string, path: string, body?: object][]) => {
    const all: number[] = [];
    for (const one of asked) all.push((await ask(...one)).status);
    return all;
  };
  const approval = (EventId: string) => ['POST', '/v1/approvals', { StartRequests: [{ EventId }] }] as [string, string, object];
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
  assert.deepEqual(await statuses(release(EXAMPLE_ID, '?approver=billing'), release('x'), release(ended)), [403, 404, 410]);
  assert.deepEqual(await statuses(release(EXAMPLE_ID), release(EXAMPLE_ID), life(EXAMPLE_ID), ['GET', '/v1/events']), [204, 404, 200, 200]);
  assert.deepEqual(await statuses(approval(EXAMPLE_ID), approval(started), approval(ended), approval('x')), [200, 409, 410, 404]);
});

test('a fuzzer that knows the OpenAPI document finds nothing', { skip: withoutSchemathesis, timeout: PATIENCE_MS + 10_000 }, async (t) => {
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
