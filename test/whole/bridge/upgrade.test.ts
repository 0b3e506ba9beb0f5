// Stores that older releases wrote → what the bridge of today delivers of them (behaviour 12.12).
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ADAPTERS } from '../../../adapters/index.ts';
import { startBridge } from '../../../src/bridge.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { MIGRATIONS } from '../../../src/outbox/migrations/schema.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { hook, received, TOKEN } from '../../support/running-bridge.ts';

const STORES = join(import.meta.dirname, '../../fixtures/stores');
const MINUTE = 60_000;

interface Written {
  readonly madeMs: number;
  readonly answers: { readonly approved: number; readonly held: number };
  /** Undelivered to the sink `away`, oldest first. */
  readonly owed: readonly { readonly id: string; readonly body: string }[];
  /** Dead letters of the sink `refusing`, oldest first. */
  readonly dead: readonly string[];
}

const released = Array.from({ length: MIGRATIONS.length - 1 }, (_, index) => index + 1);
const versions = [...released, MIGRATIONS.length].filter((version) =>
  existsSync(join(STORES, `version-${version}.db.gz`)),
);

test('there is a store of each version before the newest', () => {
  assert.deepEqual(
    released.filter((version) => !versions.includes(version)),
    [],
    'test/fixtures/stores/README.md tells how to write one',
  );
});

for (const version of versions) {
  test(`what a bridge with a store of version ${version} had not delivered goes out with its bytes; dead letters stay`, async (t) => {
    const { written, folder, receiver, bridge } = await upgraded(t, version);
    const ids = () => received(receiver.requests);
    await poll(() => written.owed.every(({ id }) => ids().has(id)), 'what was owed');
    for (const { id, body } of written.owed) assert.deepEqual(ids().get(id), [body]);
    const [first = '', second = ''] = written.owed.map(({ id }) => id.split(':')[0]);
    const record = (eventId: string) =>
      fetch(`${bridge.url}/v1/approvals/${eventId}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    assert.match(await (await record(first)).text(), /"ops"/, 'who approved the first');
    if (written.answers.held === 201)
      assert.match(await (await record(second)).text(), /not now/, 'why the second is held');
    await bridge[Symbol.asyncDispose]();
    using database = new DatabaseSync(join(folder, 'outbox.db'));
    assert.deepEqual({ ...database.prepare('PRAGMA user_version').get() }, { user_version: MIGRATIONS.length });
    const dead = database.prepare(`SELECT id FROM deliveries JOIN journal ON journal.seq = deliveries.journal
      WHERE sink = 'refusing' AND state = 'dead' ORDER BY deliveries.seq`);
    assert.deepEqual(
      dead.all().map(({ id }) => id),
      written.dead,
    );
    assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  });
}

/**
 * The bridge of today on a copy of the store, a minute after it was written: what is old by the clock would be given
 * up.
 */
async function upgraded(t: TestContext, version: number) {
  const written: Written = JSON.parse(readFileSync(join(STORES, `version-${version}.json`), 'utf8'));
  const [azure, receiver] = [await localSimulator(t), await WebhookReceiver.start()];
  t.after(() => receiver[Symbol.asyncDispose]());
  const folder = join(folderOf(t), 'store');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'outbox.db'), gunzipSync(readFileSync(join(STORES, `version-${version}.db.gz`))), {
    mode: 0o600,
  });
  const whole = {
    version: 1,
    metadata: { endpoint: azure.url },
    store: { path: folder },
    http: { listen: '127.0.0.1:0' },
    approvals: { approvers: { ops: { token: { env: 'TOKEN' } } } },
    // No new event goes to what keeps the dead letters.
    sinks: { away: hook(receiver.url), refusing: hook(receiver.url, { filter: { changes: ['updated'] } }) },
  };
  const checked = readConfig(JSON.stringify(whole), {
    adapters: ADAPTERS,
    env: { TOKEN },
    directory: folder,
    readFile: () => '',
  });
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults));
  const deps = systemDeps();
  const shiftMs = written.madeMs + MINUTE - deps.wallMs();
  const then = { ...deps, wallMs: () => deps.wallMs() + shiftMs };
  const { logger, dropped } = await createLogger({
    stream: new PassThrough().resume(),
    level: 'info',
    pretty: false,
    wallMs: then.wallMs,
  });
  const config = checked.options;
  const bridge = await startBridge({
    config,
    version: 'new',
    deps: then,
    logger,
    logLinesDropped: dropped,
    stdout: new PassThrough(),
  });
  t.after(() => bridge[Symbol.asyncDispose]());
  return { written, folder, receiver, bridge };
}
