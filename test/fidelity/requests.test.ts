// Requests → the checks of the service, and their order; rows of docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import { simulatedGroup } from '../virtual/simulated-group.ts';
import { EVENTS, jsonOf, textOf } from '../virtual/simulation.ts';

const GOOD = 'api-version=2020-07-01';
const HEADER = { Metadata: 'true' };

for (const [what, method, url, headers, body, status, says] of [
  [
    'the header, before all else',
    'PUT',
    '/metadata/nothing',
    { 'X-Forwarded-For': '10.0.0.1' },
    '{',
    400,
    /metadata header/,
  ],
  [
    'X-Forwarded-For, before the version',
    'PUT',
    '/metadata/nothing',
    { ...HEADER, 'X-Forwarded-For': '10.0.0.1' },
    '{',
    400,
    /Forwarded/,
  ],
  ['a doubled parameter, before the version', 'PUT', '/metadata/nothing?a=1&a=2', HEADER, '{', 400, /more than once/],
  [
    'the version, before the path',
    'PUT',
    '/metadata/nothing',
    HEADER,
    '{',
    400,
    /api-version is invalid or was not specified/,
  ],
  [
    'the version of /metadata itself',
    'GET',
    '/metadata',
    HEADER,
    '',
    400,
    /api-version is invalid or was not specified/,
  ],
  ['the path, before the verb', 'PUT', `/metadata/nothing?${GOOD}`, HEADER, '{', 404, /Not found/],
  ['the verb, before the body', 'PUT', EVENTS, HEADER, '{', 405, /Method/],
  ['the body at last', 'POST', EVENTS, HEADER, '{', 400, /StartRequests/],
] as const) {
  test(`of several faults the answer names ${what} (F-10)`, () => {
    const answer = simulatedGroup().first.ask(method, url, body, headers);
    assert.equal(answer.status, status);
    assert.match(textOf(answer), says);
  });
}

test('the refusals of a missing header and a bad version have the wording seen in the field (F-02, F-04, F-05)', () => {
  const { first } = simulatedGroup();
  const errorOf = (url: string, headers: Record<string, string>) =>
    jsonOf<{ error: string }>(first.ask('GET', url, '', headers)).error;
  assert.equal(errorOf(EVENTS, {}), 'Bad request: . Required metadata header not specified');
  for (const query of ['', '?api-version=', '?api-version=2016-01-01'])
    assert.equal(
      errorOf(`/metadata/scheduledevents${query}`, HEADER),
      'Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds',
    );
});

test('every refusal has the white space seen in the field (F-99)', () => {
  const { first } = simulatedGroup();
  assert.equal(
    textOf(first.ask('GET', EVENTS, '', {})),
    '{ "error": "Bad request: . Required metadata header not specified" }',
  );
  assert.equal(textOf(first.get(`/metadata/nothing?${GOOD}`)), '{ "error": "Not found." }');
  assert.match(textOf(first.ask('PUT', EVENTS)), /^\{ "error": "[^"]+" \}$/);
  assert.equal(
    textOf(first.approve('{\n  "a" ')),
    '{ "error": "Bad request. No event is listed with the EventId {\\n  \\"a\\" ." }',
    'a text stays',
  );
  assert.match(
    textOf(first.get('/metadata/scheduledevents')),
    /^\{ "error": "[^"]+", "newest-versions": \[ "2024-07-09", "2020-07-01", "2019-08-01" \] \}$/,
  );
});

test('each route names the newest versions that it accepts, newest first (F-04)', () => {
  const { first } = simulatedGroup();
  for (const path of ['scheduledevents', 'instance', 'instance/compute', 'nothing']) {
    const newest = jsonOf<Record<string, string[]>>(first.get(`/metadata/${path}`))['newest-versions'] ?? [];
    assert.equal(newest.length, 3, path);
    assert.deepEqual(newest, [...newest].sort().reverse(), path);
    for (const version of newest)
      assert.notEqual(first.get(`/metadata/${path}?api-version=${version}`).status, 400, path);
  }
});

test('the header is required in every version, including the oldest (F-02)', () => {
  const { first } = simulatedGroup();
  for (const method of ['GET', 'POST'])
    assert.equal(
      first.ask(method, '/metadata/scheduledevents?api-version=2017-03-01', { StartRequests: [] }, {}).status,
      400,
    );
});

test('any doubled parameter is refused, in any letter case and on every route (F-06)', () => {
  const { first } = simulatedGroup();
  for (const path of ['scheduledevents', 'instance', 'instance/compute'])
    for (const twice of ['format=json&format=json', 'format=json&Format=text', 'API-VERSION=2020-07-01'])
      assert.equal(first.get(`/metadata/${path}?${GOOD}&${twice}`).status, 400, `${path} ${twice}`);
});

test('other parameters are ignored, in any order (F-07)', () => {
  const { first } = simulatedGroup();
  const plain = textOf(first.get());
  for (const query of [`format=json&${GOOD}`, `${GOOD}&format=text`, `${GOOD}&timeout=5&x`, `${GOOD}&`])
    assert.equal(textOf(first.get(`/metadata/scheduledevents?${query}`)), plain, query);
});

test('letter case of path and parameter names is ignored, values are percent-decoded, and one trailing slash is accepted (F-08)', () => {
  const { first } = simulatedGroup();
  const paths = [
    'scheduledEvents',
    'SCHEDULEDEVENTS',
    'scheduledevents/',
    'ScheduledEvents/',
    'instance/',
    'instance/compute/',
  ];
  for (const path of paths) assert.equal(first.get(`/Metadata/${path}?API-Version=2020%2D07-01`).status, 200, path);
  assert.equal(first.get(`/metadata/scheduledevents//?${GOOD}`).status, 404);
});

test('the versions are listed oldest first; the route requires the header but no api-version (F-13)', () => {
  const { first } = simulatedGroup();
  const { apiVersions } = jsonOf<{ apiVersions: string[] }>(first.get('/metadata/versions'));
  assert.deepEqual(apiVersions, [...new Set(apiVersions)].sort());
  for (const version of ['2017-03-01', '2020-07-01', '2024-07-09', '2021-02-01'])
    assert.ok(apiVersions.includes(version), version);
  assert.equal(first.get(`/metadata/versions?${GOOD}`).status, 200);
  assert.equal(first.ask('GET', '/metadata/versions', '', {}).status, 400);
  assert.equal(first.ask('POST', '/metadata/versions').status, 405);
});

test('a single value of the instance is plain text, as shell clients read their name (F-87)', () => {
  const { machines } = simulatedGroup({ vms: ['web_0', 'web_1'] });
  const answer = machines[1]?.get('/metadata/instance/compute/name?api-version=2021-12-13&format=text');
  assert.ok(answer);
  assert.deepEqual(
    [answer.status, answer.headers['content-type'], textOf(answer)],
    [200, 'text/plain; charset=utf-8', 'web_1'],
  );
  const empty = simulatedGroup().first.get('/Metadata/Instance/Compute/ZONE/?Format=TEXT&api-version=2021-02-01');
  assert.deepEqual([empty.status, textOf(empty)], [200, '']);
});

for (const [query, field, status] of [
  ['', 'name', 400],
  ['&format=json', 'name', 400],
  ['&format=', 'vmId', 400],
  ['&format=text', 'constructor', 404],
  ['', 'nothing', 404],
  ['&format=text', 'name/0', 404],
] as const) {
  test(`a request for the single value ${field}${query} gets ${status} (F-87)`, () => {
    assert.equal(
      simulatedGroup().first.get(`/metadata/instance/compute/${field}?api-version=2021-02-01${query}`).status,
      status,
    );
  });
}

test('a single value accepts only GET, and needs a version as the whole does (F-87)', () => {
  const { first } = simulatedGroup();
  assert.equal(first.ask('POST', '/metadata/instance/compute/name?api-version=2021-02-01&format=text').status, 405);
  assert.equal(first.get('/metadata/instance/compute/name?format=text').status, 400);
});
