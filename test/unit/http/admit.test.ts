// A right that is revoked while a request is under way → 401, 403 or 429, and nothing is changed.
import assert from 'node:assert/strict';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import { nextTurn } from '../../../src/time/fair-queue.ts';
import { APPROVER, DRILL, type HttpFixture, SINK, serve } from '../../virtual/http-fixture.ts';

const LETTERS = JSON.stringify({ sink: SINK.name, ids: ['a'] });

interface Changing {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly isForAdmins: boolean;
}

function changing(method: string, path: string, body: string | null, isForAdmins: boolean): Changing {
  return { method, path, body, isForAdmins };
}

/** Every route that changes something. */
const ROUTES = [
  changing('POST', '/v1/approvals', '{"StartRequests":[{"EventId":"A"}]}', false),
  changing('POST', '/v1/holds', '{"EventId":"A"}', false),
  changing('DELETE', '/v1/holds/A', null, false),
  changing('POST', '/v1/dead-letters/retry', LETTERS, true),
  changing('POST', '/v1/dead-letters/discard', LETTERS, true),
  changing('POST', '/v1/drills', '{}', true),
  changing('DELETE', `/v1/drills/${DRILL.id}`, null, true),
  changing('POST', `/v1/sinks/${SINK.name}/pause`, null, true),
  changing('POST', `/v1/sinks/${SINK.name}/resume`, null, true),
  changing('POST', '/v1/reload', null, true),
];

const NO_APPROVERS = 'every approver';

interface Loss {
  readonly what: string;
  readonly take: (fixture: HttpFixture) => void;
  readonly status: number;
  readonly type: string;
  readonly isOfAdmins?: boolean;
}

const LOSSES: readonly Loss[] = [
  { what: 'its token', take: (fixture) => Object.assign(fixture, { callers: {} }), status: 401, type: 'unauthorized' },
  {
    what: 'its place among the approvers',
    take: (fixture) =>
      Object.assign(fixture, { callers: { [APPROVER]: { kind: 'reader', name: 'orders', via: 'token' } } }),
    ...{ status: 403, type: 'reader' },
  },
  {
    what: NO_APPROVERS,
    take: (fixture) => Object.assign(fixture, { configured: false }),
    status: 403,
    type: 'no-approvers',
  },
  {
    what: 'admin',
    take: (fixture) => Object.assign(fixture, { admin: '' }),
    status: 403,
    type: 'not-admin',
    isOfAdmins: true,
  },
];

interface Exchange {
  readonly status: number;
  readonly type: unknown;
}

/** Sends the head and the first byte of the body; `finish` sends the rest. */
function open(fixture: HttpFixture, { method, path, body }: Changing) {
  const headers = {
    ...{ authorization: `Bearer ${APPROVER}`, 'content-type': 'application/json' },
    ...(body !== null && { 'content-length': Buffer.byteLength(body) }),
  };
  const request = http.request({ host: '127.0.0.1', port: fixture.port, method, path, headers, agent: false });
  const answer = new Promise<Exchange>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode = 0 } = response;
      text(response).then(
        (said) => resolve({ status: statusCode, type: said.startsWith('{') ? JSON.parse(said).type : null }),
        reject,
      );
    });
  });
  if (body === null) request.end();
  else request.write(body.slice(0, 1));
  return { answer, finish: () => (body === null ? undefined : request.end(body.slice(1))) };
}

/** Sends a request, takes a right away at a moment of it, and lets it go on. */
type Moment = (fixture: HttpFixture, route: Changing, take: () => void) => Promise<Exchange>;

const betweenHeadAndBody: Moment = async (fixture, route, take) => {
  const judged = new Promise<void>((resolve) => {
    fixture.judging = () => nextTurn(resolve);
  });
  const { answer, finish } = open(fixture, route);
  await judged;
  take();
  finish();
  return answer;
};

const whileItsProofIsJudged: Moment = (fixture, route, take) => {
  fixture.judging = take;
  const { answer, finish } = open(fixture, route);
  finish();
  return answer;
};

const whileAStartRequestIsOnItsWay: Moment = (fixture, route, take) => {
  fixture.answered = async () => take();
  const { answer, finish } = open(fixture, route);
  finish();
  return answer;
};

const whileAnotherReloadIsDone: Moment = (fixture, route, take) => {
  const { reload } = fixture;
  fixture.reload = (...given) => {
    take();
    return reload(...given);
  };
  return open(fixture, route).answer;
};

async function fixtureOf(t: TestContext): Promise<HttpFixture> {
  const fixture = await serve(t);
  fixture.reload = async (by, refusal) => {
    const reply = await refusal();
    if (reply !== null) return { kind: 'not-allowed', reply };
    fixture.told.push(`reload ${by}`);
    return { kind: 'applied', changed: [] };
  };
  return fixture;
}

const MOMENTS: readonly { readonly when: string; readonly moment: Moment; readonly routes: readonly Changing[] }[] = [
  { when: 'between head and body', moment: betweenHeadAndBody, routes: ROUTES.filter(({ body }) => body !== null) },
  { when: 'while its proof is judged', moment: whileItsProofIsJudged, routes: ROUTES },
  {
    ...{ when: 'while a StartRequest is on its way', moment: whileAStartRequestIsOnItsWay },
    routes: ROUTES.filter(({ path }) => path.startsWith('/v1/holds')),
  },
  {
    when: 'while another reload is done',
    moment: whileAnotherReloadIsDone,
    routes: ROUTES.filter(({ path }) => path === '/v1/reload'),
  },
];

test('every route that changes something is in this table', async (t) => {
  const fixture = await serve(t);
  const changes = fixture.parts().routes.filter(({ method }) => method !== 'GET');
  const isOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
  const listed = ROUTES.map((route) =>
    changes.findIndex(({ method, path }) => method === route.method && isOf(path).test(route.path)),
  );
  assert.deepEqual(
    listed.toSorted((one, other) => one - other),
    changes.map((_, index) => index),
  );
});

for (const { when, moment, routes } of MOMENTS) {
  for (const route of routes) {
    const losses = LOSSES.filter(({ isOfAdmins = false }) => route.isForAdmins || !isOfAdmins);
    test(`${when}, who loses the right to ${route.method} ${route.path} changes nothing`, async (t) => {
      for (const { what, take, status, type } of losses) {
        // A bridge without approvers has nobody to prove that it is one.
        if (what === NO_APPROVERS && moment === whileItsProofIsJudged) continue;
        const fixture = await fixtureOf(t);
        const answer = await moment(fixture, route, () => take(fixture));
        assert.deepEqual([answer, ...fixture.asked, ...fixture.told], [{ status, type }], what);
      }
    });
  }
}

test('a right that is taken away before the end of a request and given back counts: nothing else of it has changed', async (t) => {
  for (const route of ROUTES.filter(({ body }) => body !== null)) {
    const fixture = await fixtureOf(t);
    const { status } = await betweenHeadAndBody(fixture, route, () => {
      fixture.admin = '';
      fixture.admin = 'orders';
    });
    assert.ok(status < 300, `${route.path}: ${status}`);
    assert.equal(fixture.asked.length + fixture.told.length, 1, route.path);
  }
});

test('a token that is given to another approver before the body is there approves, holds and acts in the name of that one', async (t) => {
  for (const route of ROUTES.filter(({ body }) => body !== null)) {
    const fixture = await fixtureOf(t);
    await betweenHeadAndBody(fixture, route, () => {
      fixture.callers = { [APPROVER]: { kind: 'approver', name: 'billing', via: 'token' } };
      fixture.admin = 'billing';
    });
    const [changed, ...more] = [...fixture.asked, ...fixture.told];
    assert.match(JSON.stringify(changed), /billing/, route.path);
    assert.doesNotMatch(JSON.stringify(changed), /orders/, route.path);
    assert.deepEqual(more, []);
  }
});

test('a token that is withdrawn before the body is there counts as a failure: 429 from the 20th of an address', async (t) => {
  const fixture = await fixtureOf(t);
  const [route] = ROUTES;
  assert.ok(route);
  const statuses: number[] = [];
  for (let sent = 0; sent < 20; sent++) {
    const had = fixture.callers;
    statuses.push((await betweenHeadAndBody(fixture, route, () => Object.assign(fixture, { callers: {} }))).status);
    fixture.callers = had;
  }
  assert.deepEqual(statuses, [...Array<number>(19).fill(401), 429]);
});

test('a caller without the right learns nothing about its body', async (t) => {
  const fixture = await fixtureOf(t);
  const route = changing('POST', '/v1/approvals', '{"', false);
  assert.equal((await betweenHeadAndBody(fixture, route, () => Object.assign(fixture, { callers: {} }))).status, 401);
});
