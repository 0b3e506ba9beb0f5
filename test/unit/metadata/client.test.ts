// Answers of a metadata service → what the client makes of each, asks next, keeps and logs.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { MetadataClient, type MetadataClientOptions } from '../../../src/metadata/client.ts';
import type { MetadataTransport, TransportAnswer, TransportRequest } from '../../../src/metadata/transport.ts';
import type { PollResult } from '../../../src/model/events.ts';
import { startSimulator } from '../../../src/simulator.ts';
import { now } from '../../../src/time/clock.ts';
import { FakeMetadata, fakeDocument } from '../../far-sides/metadata-service.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const never = new AbortController().signal;
const DAY_MS = 86_400_000;

type Answer = { status?: number; headers?: Record<string, string>; body?: string } | Error;

/** A client whose far side is `respond`, in memory. */
function inMemory(respond: (request: TransportRequest) => Answer, options: Partial<MetadataClientOptions> = {}) {
  const time = new VirtualTime();
  const requests: TransportRequest[] = [];
  const lines: string[] = [];
  const fields: object[] = [];
  const log = (level: string) => (first: object | string, second?: string) => {
    lines.push(`${level}: ${second ?? first}`);
    if (typeof first === 'object') fields.push(first);
  };
  const logger = { info: log('info'), warn: log('warn'), error: log('error') };
  const transport: MetadataTransport = async (request): Promise<TransportAnswer> => {
    requests.push(request);
    const answer = respond(request);
    if (answer instanceof Error) throw answer;
    return { status: answer.status ?? 200, headers: answer.headers ?? {}, body: Buffer.from(answer.body ?? '') };
  };
  const client = new MetadataClient(
    { ...OPTIONS, endpoint: 'http://169.254.169.254', ...options },
    { ...time, logger: logger as never, transport },
  );
  return { client, time, requests, lines, fields };
}

const OPTIONS = { apiVersion: '2020-07-01', pollIntervalMs: 1000, timeoutMs: 10_000, firstTimeoutMs: 130_000 };

/** A client on real sockets and virtual time. */
function onSockets(t: TestContext, endpoint: string, options: Partial<MetadataClientOptions> = {}) {
  const time = new VirtualTime();
  const silent = { info() {}, warn() {}, error() {} };
  const client = new MetadataClient(
    { ...OPTIONS, endpoint, timeoutMs: 1000, firstTimeoutMs: 1000, ...options },
    { ...time, logger: silent },
  );
  t.after(() => client.close());
  return { time, client };
}

async function onLoopback(t: TestContext) {
  const azure = await startSimulator();
  t.after(() => azure.close());
  return { azure, ...onSockets(t, azure.url) };
}

function failure(result: PollResult): Extract<PollResult, { kind: 'failure' }> {
  assert.equal(result.kind, 'failure');
  return result as Extract<PollResult, { kind: 'failure' }>;
}

function good(result: PollResult) {
  assert.ok(result.kind === 'document', result.kind === 'failure' ? result.error.message : '');
  return result.document;
}

describe('poll', () => {
  test('requests the document with the header, the path and the version', async () => {
    const { client, requests } = inMemory(() => ({ body: fakeDocument(3, {}) }));
    const document = good(await client.poll(never));
    assert.equal(document.incarnation, 3);
    assert.equal(document.apiVersion, '2020-07-01');
    assert.deepEqual(requests, [
      {
        method: 'GET',
        url: 'http://169.254.169.254/metadata/scheduledevents?api-version=2020-07-01',
        headers: { Metadata: 'true' },
        timeoutMs: 130_000,
      },
    ]);
  });

  test('returns the same object while the bytes are the same, even after failures', async () => {
    const bodies = [
      fakeDocument(1, {}),
      fakeDocument(1, {}),
      'broken',
      fakeDocument(1, {}),
      fakeDocument(2, {}),
      fakeDocument(1, {}),
    ];
    const { client } = inMemory(() => ({ body: bodies.shift() ?? '' }));
    const results: PollResult[] = [];
    while (bodies.length > 0) results.push(await client.poll(never));
    const [first, second, third, fourth, fifth, sixth] = results.map((result) =>
      result.kind === 'document' ? result.document : null,
    );
    assert.equal(third, null);
    assert.ok(first && second === first && fourth === first);
    assert.ok(fifth !== first && sixth !== first);
    assert.deepEqual(sixth, first);
  });

  test('uses the long time-out for the first answer, and if the last good document is more than 24 h old or of unknown age', async () => {
    const { client, time, requests } = inMemory(() => ({ body: fakeDocument(1) }));
    await client.poll(never);
    await client.poll(never);
    await time.advance(DAY_MS);
    await client.poll(never);
    await time.advance(DAY_MS + 1);
    await client.poll(never);
    assert.deepEqual(
      requests.map((request) => request.timeoutMs),
      [130_000, 10_000, 10_000, 130_000],
    );
  });

  test('keeps the long time-out until a document is good', async () => {
    const { client, requests } = inMemory(() => ({ status: 500 }));
    await client.poll(never);
    await client.poll(never);
    assert.deepEqual(
      requests.map((request) => request.timeoutMs),
      [130_000, 130_000],
    );
  });

  test('takes the stored time of the last good document into account', async () => {
    for (const [agoMs, timeoutMs] of [
      [1000, 10_000],
      [DAY_MS, 10_000],
      [DAY_MS + 1, 130_000],
      [-3_600_000, 10_000],
    ] as const) {
      const stored = { wallMs: new VirtualTime().wallMs() - agoMs, elapsedMs: null };
      const { client, requests } = inMemory(() => ({ body: fakeDocument(1) }), { lastGoodAt: () => stored });
      await client.poll(never);
      assert.equal(requests[0]?.timeoutMs, timeoutMs, `${agoMs} ms ago`);
    }
  });

  const html = { headers: { 'content-type': 'text/html' }, body: '<html>secret page</html>' };
  for (const [what, answer, label, code, says] of [
    [
      '400',
      { status: 400, body: '{"error":"Bad request"}' },
      'status_400',
      'BRIDGE_METADATA_STATUS',
      /metadata\.apiVersion/,
    ],
    ['401', { status: 401 }, 'status_401', 'BRIDGE_METADATA_STATUS', /firewall/],
    ['403', { status: 403 }, 'status_403', 'BRIDGE_METADATA_STATUS', /firewall/],
    ['404', { status: 404 }, 'status_404', 'BRIDGE_METADATA_STATUS', /api-version/],
    ['405', { status: 405 }, 'status_405', 'BRIDGE_METADATA_STATUS', /metadata\.endpoint/],
    ['410', { status: 410 }, 'status_410', 'BRIDGE_METADATA_STATUS', /updated/],
    ['429', { status: 429 }, 'status_429', 'BRIDGE_METADATA_STATUS', /5 requests a second/],
    ['418', { status: 418 }, 'other', 'BRIDGE_METADATA_STATUS', /an unexpected answer; the bridge retries/],
    ['500', { status: 500 }, 'status_5xx', 'BRIDGE_METADATA_STATUS', /a fault of the service/],
    ['503', { status: 503 }, 'status_5xx', 'BRIDGE_METADATA_STATUS', /a fault of the service/],
    ['504 with HTML', { status: 504, ...html }, 'status_5xx', 'BRIDGE_METADATA_STATUS', /proxy/],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://evil.example/' } },
      'redirect',
      'BRIDGE_METADATA_STATUS',
      /never redirects/,
    ],
    ['304', { status: 304 }, 'other', 'BRIDGE_METADATA_STATUS', /304/],
    ['204', { status: 204 }, 'other', 'BRIDGE_METADATA_STATUS', /204/],
    ['HTML with 200', html, 'invalid', 'BRIDGE_METADATA_INVALID', /HTML/],
    [
      'a truncated document',
      { body: fakeDocument(1, {}).slice(0, 50) },
      'invalid',
      'BRIDGE_METADATA_INVALID',
      /broken JSON/,
    ],
    [
      'a refused connection',
      failing('ECONNREFUSED'),
      'refused',
      'BRIDGE_METADATA_UNREACHABLE',
      /route to 169\.254\.169\.254.*host networking/,
    ],
    ['no route', failing('EHOSTUNREACH'), 'refused', 'BRIDGE_METADATA_UNREACHABLE', /host networking/],
    ['a reset', failing('ECONNRESET'), 'reset', 'BRIDGE_METADATA_UNREACHABLE', /was closed early/],
    ['an unknown name', failing('ENOTFOUND'), 'other', 'BRIDGE_METADATA_UNREACHABLE', /ENOTFOUND/],
    ['an error without a code', new Error('?'), 'other', 'BRIDGE_METADATA_UNREACHABLE', /unknown error/],
    [
      'a time-out',
      new BridgeError('BRIDGE_METADATA_TIMEOUT', 'no answer in 10 s'),
      'timeout',
      'BRIDGE_METADATA_TIMEOUT',
      /10 s/,
    ],
    [
      '5 MB',
      new BridgeError('BRIDGE_METADATA_TOO_LARGE', 'over 4 MiB'),
      'too_large',
      'BRIDGE_METADATA_TOO_LARGE',
      /4 MiB/,
    ],
  ] as const) {
    test(`${what} is a failure with the label ${label}, quotes nothing of the body, and is logged once`, async () => {
      const { client, lines, fields } = inMemory(() => answer);
      const { result, error } = failure(await client.poll(never));
      await client.poll(never);
      assert.equal(result, label);
      assert.ok(error instanceof BridgeError);
      assert.equal(error.code, code);
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /secret page|evil\.example/);
      assert.deepEqual(lines, [`${/status_40[0135]/.test(label) ? 'error' : 'warn'}: ${error.message}`]);
      assert.deepEqual(fields, [{ result: label, code }]);
    });
  }

  test('passes on Retry-After, in both forms', async () => {
    const { client, time } = inMemory(() => ({ status: 429, headers: { 'retry-after': values.shift() ?? '' } }));
    const values = ['7', new Date(time.wallMs() + 5000).toUTCString(), '-1', 'never'];
    const asked: unknown[] = [];
    while (values.length > 0) asked.push((failure(await client.poll(never)).error as BridgeError).retryAfterMs);
    assert.deepEqual(asked, [7000, 5000, undefined, undefined]);
  });

  test('logs each change of failure once, and the end of the failure', async () => {
    const statuses = [200, 500, 503, 404, 404, 200, 200, 500];
    const { client, lines } = inMemory(() => ({ status: statuses.shift() ?? 0, body: fakeDocument(1) }));
    while (statuses.length > 0) await client.poll(never);
    assert.deepEqual(
      lines.map((line) => line.replace(/.*answered (\d+).*/, '$1')),
      ['500', '404', 'info: the metadata service is reachable again', '500'],
    );
  });

  test('a result has the time that its request took', async () => {
    for (const status of [200, 500]) {
      const time = new VirtualTime();
      const answer = { status, headers: {}, body: Buffer.from(fakeDocument(1, {})) };
      const transport = () => new Promise<TransportAnswer>((resolve) => time.after(700, () => resolve(answer)));
      const logger = { info() {}, warn() {}, error() {} };
      const options = { ...OPTIONS, endpoint: 'http://169.254.169.254' };
      const client = new MetadataClient(options, { ...time, logger, transport });
      await time.advance(5000);
      const polling = client.poll(never);
      await time.advance(700);
      assert.equal((await polling).durationMs, 700);
    }
  });

  test('takes changed time-outs from the next request on', async () => {
    const { client, requests } = inMemory(() => ({ body: fakeDocument(1, {}) }));
    await client.poll(never);
    client.adjust({ pollIntervalMs: 2000, timeoutMs: 3000, firstTimeoutMs: 4000 });
    await client.poll(never);
    await client.post(['a'], never);
    assert.deepEqual(
      requests.map(({ timeoutMs }) => timeoutMs),
      [130_000, 3000, 3000],
    );
  });

  test('shows only scheme and host of an endpoint with a password', async () => {
    const { client } = inMemory(() => failing('ECONNREFUSED'), { endpoint: 'http://user:hunter2@10.0.0.1/' });
    const { error } = failure(await client.poll(never));
    assert.match(error.message, /http:\/\/10\.0\.0\.1/);
    assert.doesNotMatch(error.message, /hunter2/);
  });

  test('rejects with the reason of an abort and logs nothing', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { client, lines } = inMemory(() => {
      controller.abort(reason);
      return failing('ECONNRESET');
    });
    await assert.rejects(client.poll(controller.signal), (error) => error === reason);
    await assert.rejects(client.post(['a'], controller.signal), (error) => error === reason);
    await assert.rejects(client.instance(controller.signal), (error) => error === reason);
    assert.deepEqual(lines, []);
  });

  test('finds the endpoint at the first request, again after a failure, and never after a success', async () => {
    let asked = 0;
    const endpoint = async () => {
      asked += 1;
      if (asked === 1) throw new BridgeError('BRIDGE_METADATA_UNDISCOVERED', 'no lease');
      return 'http://168.63.129.16:8080';
    };
    const { client, requests } = inMemory(() => ({ body: fakeDocument(1) }), { endpoint });
    assert.equal(asked, 0);
    assert.equal(failure(await client.poll(never)).error.message, 'no lease');
    good(await client.poll(never));
    good(await client.poll(never));
    assert.equal(asked, 2);
    assert.equal(requests[0]?.url, 'http://168.63.129.16:8080/metadata/scheduledevents?api-version=2020-07-01');
  });
});

describe('newest', () => {
  /** A service that knows `known` and answers `refusal` to other versions. */
  function service(known: readonly string[], refusal: Answer = { status: 400 }) {
    const state = { known, refusal };
    const versionOf = (request: TransportRequest) => request.url.split('=')[1] ?? '';
    const part = inMemory(
      (request) => (state.known.includes(versionOf(request)) ? { body: fakeDocument(1) } : state.refusal),
      {
        apiVersion: 'newest',
      },
    );
    return { ...part, state, asked: () => part.requests.splice(0).map(versionOf) };
  }

  test('starts at 2024-07-09 and stays there', async () => {
    const { client, state, asked } = service(['2024-07-09', '2020-07-01']);
    assert.equal(good(await client.poll(never)).apiVersion, '2024-07-09');
    state.known = ['2020-07-01'];
    assert.equal(failure(await client.poll(never)).result, 'status_400');
    assert.deepEqual(asked(), ['2024-07-09', '2024-07-09']);
  });

  for (const status of [400, 404]) {
    test(`after ${status} takes the next older one that answers at once, and stays with it`, async () => {
      const { client, state, asked } = service(['2020-07-01', '2019-08-01'], { status });
      assert.equal(good(await client.poll(never)).apiVersion, '2020-07-01');
      state.known = ['2024-07-09', '2020-07-01'];
      good(await client.poll(never));
      await client.post(['a'], never);
      assert.deepEqual(asked(), ['2024-07-09', '2020-07-01', '2020-07-01', '2020-07-01']);
    });
  }

  test('sends at most three requests a poll, and continues with older versions at the next one', async () => {
    const { client, asked } = service(['2017-08-01']);
    const results: PollResult[] = [];
    for (let n = 0; n < 3; n++) results.push(await client.poll(never));
    assert.deepEqual(
      results.map((result) => result.kind),
      ['failure', 'failure', 'document'],
    );
    assert.deepEqual(asked(), [
      ...['2024-07-09', '2020-07-01', '2019-08-01'],
      ...['2024-07-09', '2019-04-01', '2019-01-01'],
      ...['2024-07-09', '2017-11-01', '2017-08-01'],
    ]);
  });

  test('a service that is being updated does not reject a version: the newest is tried again first', async () => {
    const { client, state, asked } = service([], { status: 404 });
    assert.equal(failure(await client.poll(never)).result, 'status_404');
    state.known = ['2024-07-09', '2020-07-01'];
    assert.equal(good(await client.poll(never)).apiVersion, '2024-07-09');
    assert.deepEqual(asked(), ['2024-07-09', '2020-07-01', '2019-08-01', '2024-07-09']);
  });

  for (const unknownApiVersion of [400, 404] as const) {
    test(`finds the version of a simulated host that never knew 2024-07-09 and says ${unknownApiVersion} to it`, async (t) => {
      const azure = await startSimulator({ apiVersions: ['2020-07-01', '2019-08-01'], unknownApiVersion });
      t.after(() => azure.close());
      const { client } = onSockets(t, azure.url, { apiVersion: 'newest' });
      const { EventId } = azure.schedule();
      for (const _ of [1, 2]) assert.equal(good(await client.poll(never)).apiVersion, '2020-07-01');
      assert.equal((await client.post([EventId], never)).kind, 'accepted');
      await azure.until(() => azure.approvals().includes(EventId));
      assert.deepEqual(
        azure.requests().map(({ path, status }) => `${path.split('=')[1]} ${status}`),
        [`2024-07-09 ${unknownApiVersion}`, '2020-07-01 200', '2020-07-01 200', '2020-07-01 200'],
      );
    });
  }

  test('starts again after even the oldest was rejected', async () => {
    const { client, asked } = service([], { status: 404 });
    for (let n = 0; n < 4; n++) await client.poll(never);
    assert.deepEqual(asked().slice(-3), ['2024-07-09', '2017-03-01', '2020-07-01']);
  });

  test('the first rejection is the failure if an older version fails in another way', async () => {
    const answers: Answer[] = [{ status: 404 }, { status: 500 }, { status: 404 }, { body: '<html>' }];
    const { client, requests } = inMemory(() => answers.shift() ?? {}, { apiVersion: 'newest' });
    assert.equal(failure(await client.poll(never)).result, 'status_404');
    assert.equal(failure(await client.poll(never)).result, 'status_404');
    assert.equal(requests.length, 4);
  });

  test('other failures try no older version', async () => {
    for (const refusal of [{ status: 500 }, { status: 410 }, { status: 403 }, failing('ECONNRESET')]) {
      const { client, asked } = service([], refusal);
      await client.poll(never);
      assert.deepEqual(asked(), ['2024-07-09']);
    }
  });

  test('a configured version never changes', async () => {
    const { client, requests } = inMemory(() => ({ status: 404 }), { apiVersion: '2019-01-01' });
    await client.poll(never);
    assert.deepEqual(
      requests.map((request) => request.url.split('=')[1]),
      ['2019-01-01'],
    );
  });
});

describe('post', () => {
  test('sends one StartRequest for each id, in the letter case given', async () => {
    const { client, requests } = inMemory(() => ({}));
    assert.deepEqual(await client.post(['C7061BAC', 'b'], never), { kind: 'accepted' });
    assert.equal(requests[0]?.method, 'POST');
    assert.equal(requests[0]?.url, 'http://169.254.169.254/metadata/scheduledevents?api-version=2020-07-01');
    assert.equal(requests[0]?.body, '{"StartRequests":[{"EventId":"C7061BAC"},{"EventId":"b"}]}');
    assert.deepEqual(requests[0]?.headers, { 'Content-Type': 'application/json', Metadata: 'true' });
  });

  test('never sends a drill to the metadata service, not even together with real events', async () => {
    const drill = 'drill-b7cf3c25-0000-4000-8000-000000000000';
    for (const eventIds of [[drill], ['C7061BAC', drill], [drill, 'C7061BAC']]) {
      const { client, requests } = inMemory(() => ({}));
      await assert.rejects(client.post(eventIds, never), {
        ...{ code: 'BRIDGE_USAGE', message: 'a drill exists only in its bridge: approve it with --bridge' },
      });
      assert.deepEqual(requests, []);
    }
  });

  test('rejects with the reason of an abort', async () => {
    const aborted = AbortSignal.abort(new Error('stopping'));
    const { client, lines } = inMemory(() => failing('ECONNRESET'));
    await assert.rejects(client.post(['a'], aborted), /stopping/);
    assert.deepEqual(lines, []);
  });

  test('says that a page came in the place of an answer', async () => {
    const { client } = inMemory(() => ({ body: ' \n<html>sign in</html>' }));
    const result = await client.post(['a'], never);
    assert.match(result.kind === 'again' ? result.error.message : '', /to a StartRequest is HTML or XML/);
  });

  for (const status of [400, 401, 403, 405]) {
    test(`${status} is a rejection`, async () => {
      const { client } = inMemory(() => ({ status }));
      const result = await client.post(['a'], never);
      assert.equal(result.kind, 'refused');
      assert.equal(result.kind === 'refused' && result.status, status);
    });
  }

  for (const [what, answer] of [
    ...[404, 408, 410, 418, 429, 500, 503, 302, 304].map((status) => [String(status), { status }] as const),
    ['a reset', failing('ECONNRESET')],
    ['a refused connection', failing('ECONNREFUSED')],
    ['a time-out', new BridgeError('BRIDGE_METADATA_TIMEOUT', 'no answer')],
  ] as const) {
    test(`${what} means: post again later`, async () => {
      const { client, requests } = inMemory(() => answer);
      const result = await client.post(['a'], never);
      assert.equal(result.kind, 'again');
      assert.ok(result.kind === 'again' && result.delayMs >= 500 && result.delayMs <= 10_000);
      assert.equal(requests.length, 1);
    });
  }

  for (const [what, answer, mayHaveArrived] of [
    ['503', { status: 503 }, false],
    ['a refused connection', failing('ECONNREFUSED'), false],
    ['a network without a route', failing('ENETUNREACH'), false],
    ['a reset', failing('ECONNRESET'), true],
    ['a broken pipe', failing('EPIPE'), true],
    ['a time-out', new BridgeError('BRIDGE_METADATA_TIMEOUT', 'no answer'), true],
    ['a page in the place of an answer', { status: 200, body: '<html>sign in</html>' }, true],
  ] as const) {
    test(`${what}: the service ${mayHaveArrived ? 'may have' : 'has not'} accepted it`, async () => {
      const { client } = inMemory(() => answer);
      const result = await client.post(['a'], never);
      assert.equal(result.kind === 'again' && result.mayHaveArrived, mayHaveArrived);
    });
  }

  test('waits by the schedule of polls, until one is accepted', async () => {
    const statuses = [500, 500, 500, 500, 200, 500, 500];
    const { client } = inMemory(() => ({ status: statuses.shift() ?? 0 }));
    const delays: number[] = [];
    while (statuses.length > 0) {
      const result = await client.post(['a'], never);
      if (result.kind === 'again') delays.push(result.delayMs);
    }
    const [first = 0, second = 0, third = 0, fourth, afterSuccess = 0, next = 0] = delays;
    assert.ok(first <= 1000 && second > 1000 - 1 && third > 2000 - 1 && afterSuccess <= 1000);
    assert.equal(fourth, 1000);
    assert.ok(next > 1000, 'the back-off begins again');
  });

  test('the time that a StartRequest took counts for the next one', async () => {
    const time = new VirtualTime();
    const gone = { status: 410, headers: {}, body: Buffer.from('') };
    const transport = () => new Promise<TransportAnswer>((resolve) => time.after(700, () => resolve(gone)));
    const logger = { info() {}, warn() {}, error() {} };
    const client = new MetadataClient(
      { ...OPTIONS, endpoint: 'http://169.254.169.254' },
      { ...time, logger, transport },
    );
    await time.advance(5000);
    const posting = client.post(['a'], never);
    await time.advance(700);
    const result = await posting;
    assert.equal(result.kind === 'again' && result.delayMs, 9300);
  });
});

describe('instance', () => {
  const compute = {
    vmId: '02AAB8A4-74EF-476E-8182-F6D2BA4166A6',
    name: 'Web_0',
    subscriptionId: 'S-1',
    resourceGroupName: 'My-RG',
    vmScaleSetName: 'Web',
  };
  const scaleSet = '/subscriptions/s-1/resourcegroups/my-rg/providers/microsoft.compute/virtualmachinescalesets/web';

  async function ask(answer: Answer) {
    const { client, requests } = inMemory(() => answer);
    const result = await client.instance(never);
    assert.equal(requests[0]?.url, 'http://169.254.169.254/metadata/instance?api-version=2021-02-01');
    assert.equal(requests[0]?.headers['Metadata'], 'true');
    return result;
  }

  test('reads the VM of a scale set', async () => {
    assert.deepEqual(await ask({ body: JSON.stringify({ compute, network: {} }) }), {
      kind: 'known',
      vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      name: 'Web_0',
      source: scaleSet,
      vm: {
        vmId: '02AAB8A4-74EF-476E-8182-F6D2BA4166A6',
        subscriptionId: 'S-1',
        resourceGroupName: 'My-RG',
        vmScaleSetName: 'Web',
      },
    });
  });

  test('keeps fields of a bounded length, and tags by their names', async () => {
    const tagsList = [
      { name: 'team', value: 'shop' },
      { name: 'empty', value: '' },
      { name: 'number', value: 7 },
      { name: 'long', value: 'x'.repeat(1025) },
      { name: 'broken', value: '\ud800' },
      { value: 'nameless' },
      { name: 'x'.repeat(1025), value: 'shop' },
      'team:other',
      null,
    ];
    const odd = {
      location: 'westeurope',
      zone: '',
      vmSize: 5,
      sku: 'x'.repeat(1025),
      priority: '\udc00',
      offer: 'é'.repeat(1024),
    };
    const answer = await ask({
      body: JSON.stringify({ compute: { name: 'a', customData: 'secret', ...odd, tags: 'a:b', tagsList } }),
    });
    assert.deepEqual(answer.kind === 'known' && answer.vm, {
      ...{ location: 'westeurope', offer: 'é'.repeat(1024), tags: { team: 'shop', empty: '' } },
    });
  });

  test('tags of another type are ignored', async () => {
    for (const tagsList of [undefined, null, {}, 'a:b', []]) {
      const answer = await ask({ body: JSON.stringify({ compute: { location: 'westeurope', tagsList } }) });
      assert.deepEqual(answer.kind === 'known' && answer.vm, { location: 'westeurope' });
    }
  });

  for (const [what, changed, expected] of [
    ['no scale set', { vmScaleSetName: '' }, { source: '/subscriptions/s-1/resourcegroups/my-rg' }],
    ['no subscription', { subscriptionId: '' }, { source: null }],
    ['no resource group', { resourceGroupName: undefined }, { source: null }],
    [
      'a resource group that a URI cannot hold',
      { resourceGroupName: 'Büro (ä/b)', vmScaleSetName: '' },
      { source: '/subscriptions/s-1/resourcegroups/b%C3%BCro%20(%C3%A4%2Fb)' },
    ],
    ['no vmId and no name', { vmId: '', name: 5 }, { vmId: null, name: null }],
  ] as const) {
    test(`${what}: ${JSON.stringify(expected)}`, async () => {
      const answer = await ask({ body: JSON.stringify({ compute: { ...compute, ...changed } }) });
      for (const [field, value] of Object.entries(expected))
        assert.equal((answer as unknown as Record<string, unknown>)[field], value);
    });
  }

  for (const status of [404, 405] as const) {
    test(`${status}: the route does not exist`, async () =>
      assert.deepEqual(await ask({ status }), { kind: 'absent', status }));
  }

  for (const [what, answer] of [
    ['500', { status: 500 }],
    ['400', { status: 400 }],
    ['a redirect', { status: 302 }],
    ['a refused connection', failing('ECONNREFUSED')],
    ['HTML', { body: '<html>' }],
    ['an empty body', { body: '' }],
    ['a list', { body: '[]' }],
    ['no compute', { body: '{"network":{}}' }],
  ] as const) {
    test(`${what}: failed`, async () => {
      const result = await ask(answer);
      assert.equal(result.kind, 'failed');
      assert.ok(result.kind === 'failed' && result.error.code.startsWith('BRIDGE_METADATA_'));
    });
  }
});

describe('on real sockets', () => {
  test('faults cause only failures, and the next good document is read', async (t) => {
    const fake = await FakeMetadata.start(t);
    const { client } = onSockets(t, fake.url);
    good(await client.poll(never));
    fake.next(
      { body: Buffer.alloc(5_000_000, ' ') },
      { truncated: '{"Documen' },
      { raw: 'garbage' },
      { status: 301, headers: { Location: '/' } },
    );
    const labels: string[] = [];
    for (let n = 0; n < 4; n++) labels.push(failure(await client.poll(never)).result);
    assert.deepEqual(labels, ['too_large', 'reset', 'invalid', 'redirect']);
    good(await client.poll(never));
    assert.ok(fake.requests.every((request) => request.headers['metadata'] === 'true' && request.method === 'GET'));
  });

  test('no answer is a time-out by elapsed time', async (t) => {
    const { azure, time, client } = await onLoopback(t);
    azure.fault({ delay: '1h' });
    const polled = client.poll(never);
    await azure.until(() => azure.requests().length === 1);
    await time.advance(1000);
    const result = failure(await polled);
    assert.equal(result.result, 'timeout');
    assert.equal(result.durationMs, 1000);
    assert.deepEqual(result.at, now(time));
  });

  test('an absent service is a refused connection', async (t) => {
    const { azure, client } = await onLoopback(t);
    await azure.close();
    assert.equal(failure(await client.poll(never)).result, 'refused');
  });

  test('nothing is sent after close', async (t) => {
    const { azure, client } = await onLoopback(t);
    good(await client.poll(never));
    client.close();
    client.close();
    assert.equal((failure(await client.poll(never)).error as BridgeError).code, 'BRIDGE_METADATA_CLOSED');
    assert.equal(azure.requests().length, 1);
  });
});

function failing(code: string): Error {
  return Object.assign(new Error('failed'), { code });
}

test('a poll and the instance are requested with GET; only these count as reads', async () => {
  const methods: string[] = [];
  const time = new VirtualTime();
  let reads = 0;
  const transport: MetadataTransport = async ({ method, headers, timeoutMs }) => {
    methods.push(`${method} ${headers['Metadata']} ${timeoutMs}`);
    return { status: 200, headers: { date: 'today' }, body: Buffer.from('{"DocumentIncarnation":1,"Events":[]}') };
  };
  const silent = { info() {}, warn() {}, error() {} };
  const onGet = () => void reads++;
  const client = new MetadataClient(
    { ...OPTIONS, endpoint: 'http://192.0.2.1' },
    { ...time, logger: silent, transport, onGet },
  );
  const polled = await client.poll(never);
  assert.equal(polled.kind === 'document' && polled.date, 'today');
  await client.post(['C7061BAC'], never);
  assert.equal(reads, 1);
  await client.instance(never);
  assert.deepEqual([reads, ...methods], [2, 'GET true 130000', 'POST true 10000', 'GET true 10000']);
});

test('slashes at the end of an endpoint are left out', async () => {
  for (const slashes of ['', '/', '///']) {
    const { client, requests } = inMemory(() => ({}), { endpoint: `http://192.0.2.1${slashes}` });
    await client.poll(never);
    assert.equal(requests[0]?.url, 'http://192.0.2.1/metadata/scheduledevents?api-version=2020-07-01');
  }
});

test('an error that is not one of the bridge counts as its bug, with the error as the cause', async () => {
  const cause = new TypeError('x is not a function');
  const { client } = inMemory(() => ({}), { endpoint: () => Promise.reject(cause) });
  const { error } = failure(await client.poll(never));
  assert(error instanceof BridgeError);
  assert.deepEqual(
    [error.code, error.message, error.cause],
    ['BRIDGE_INTERNAL', 'a request to the metadata service failed because of a bug in the bridge', cause],
  );
});

test('a page after blank lines is no answer to a StartRequest either', async () => {
  const { client } = inMemory(() => ({ body: '\n  <html>' }));
  const result = await client.post(['C7061BAC'], never);
  assert(result.kind === 'again' && result.error instanceof BridgeError);
  assert.equal(result.error.code, 'BRIDGE_METADATA_INVALID');
});
