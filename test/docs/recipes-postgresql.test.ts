// docs/operate/recipes/postgresql.md → two real servers, handed over, rewound, nothing lost.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { freePorts } from '../far-sides/simulator-server.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { posts } from '../support/running-bridge.ts';
import { Recipe, wholeRecord } from './recipe.ts';

const BIN = '/usr/lib/postgresql/15/bin';
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

/** Opt-in: two servers take their time, and have to be installed. */
function noPostgres(): string | false {
  if (process.env['REQUIRE_POSTGRES'] !== '1') return 'two servers are started where REQUIRE_POSTGRES is set';
  assert.ok(existsSync(join(BIN, 'pg_rewind')), `${BIN} has no PostgreSQL 15`);
  return false;
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(join(BIN, program), args, {
    ...who,
    encoding: 'utf8',
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A primary and its standby; each names the other one. */
async function startPair(t: TestContext) {
  const folder = folderOf(t);
  chmodSync(folder, 0o755);
  const ports = [await freePorts(), await freePorts()];
  const data = ports.map((port) => join(folder, String(port), 'data'));
  for (const each of data) {
    mkdirSync(join(each, '..'));
    if (isRoot) chownSync(join(each, '..'), NOBODY, NOBODY);
  }
  const [primary = '', standby = ''] = data;
  const conninfo = (index: number) => `host=127.0.0.1 port=${ports[index]} user=postgres`;
  const configure = (index: number) =>
    appendFileSync(
      join(data[index] ?? '', 'postgresql.auto.conf'),
      `wal_log_hints = on\nhot_standby = on\nport = ${ports[index]}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\nprimary_conninfo = '${conninfo(1 - index)}'\n`,
    );
  const start = (index: number) =>
    run('pg_ctl', 'start', '-D', data[index] ?? '', '-w', '-l', `${data[index]}/log`, '-s');
  const ask = (index: number, statement: string) =>
    run('psql', `${conninfo(index)} dbname=postgres`, '-XAtqc', statement).trim();
  t.after(() => {
    for (const each of data) {
      try {
        run('pg_ctl', 'stop', '-D', each, '-m', 'immediate', '-s');
      } catch {
        // It does not run.
      }
    }
  });
  run('initdb', '-D', primary, '-U', 'postgres', '-A', 'trust', '--no-sync');
  configure(0);
  start(0);
  run('pg_basebackup', '-D', standby, '-d', conninfo(0), '-X', 'stream', '--no-sync', '-c', 'fast');
  configure(1);
  writeFileSync(join(standby, 'standby.signal'), '');
  start(1);
  await poll(() => ask(0, 'select count(*) from pg_stat_replication') === '1', 'the standby to follow');
  return { ports, data, ask, conninfo, start };
}

async function recipeOn(t: TestContext, { data, conninfo }: Awaited<ReturnType<typeof startPair>>): Promise<Recipe> {
  const recipe = await Recipe.on(t, 'postgresql', {
    '/var/lib/postgresql/15/main': data[0] ?? '',
    'host=10.0.0.5 port=5432 user=postgres': conninfo(1),
    '    user: postgres\n': isRoot ? `    user: ${NOBODY}\n` : '',
  });
  chmodSync(recipe.folder, 0o755);
  return recipe;
}

test('a primary is handed over, approved, and follows afterwards, with every row, over a kill of the bridge', {
  skip: noPostgres(),
  timeout: 120_000,
}, async (t) => {
  const pair = await startPair(t);
  const { ask } = pair;
  ask(0, 'create table kept as select generate_series(1, 1000) as n');
  const recipe = await recipeOn(t, pair);
  const { azure } = recipe;
  const first = await recipe.bridge();
  const { EventId } = azure.schedule({ EventType: 'Redeploy' });
  await poll(
    () => existsSync(join(pair.data[0] ?? '', 'standby.signal')) || posts(azure).length > 0,
    'the primary to have stopped',
  );
  await first.end('SIGKILL');
  await recipe.bridge();
  await recipe.approved(EventId);
  assert.deepEqual([ask(1, 'select pg_is_in_recovery()'), ask(1, 'select count(*) from kept')], ['f', '1000']);
  ask(1, 'insert into kept values (1001)');
  azure.advance('20m');
  await recipe.says('completed: it follows the other server');
  await poll(() => ask(0, 'select count(*) from kept') === '1001', 'the former primary to follow');
  assert.equal(ask(0, 'select pg_is_in_recovery()'), 't');
  assert.deepEqual(posts(azure), [200]);
  assert.deepEqual(await recipe.record(EventId), wholeRecord('database', 'postgres'));
});

test('a former primary that went another way is rewound; with the output of the page; the event of a standby is approved at once', {
  skip: noPostgres(),
  timeout: 120_000,
}, async (t) => {
  const pair = await startPair(t);
  const { ask, data, start } = pair;
  const recipe = await recipeOn(t, pair);
  const { azure } = recipe;
  await recipe.bridge();
  const { EventId } = azure.schedule({ EventType: 'Redeploy' });
  await recipe.approved(EventId);
  // Somebody starts it as a second primary, and writes to it.
  execFileSync('rm', [join(data[0] ?? '', 'standby.signal')]);
  start(0);
  ask(0, 'create table stray as select 1 as n');
  ask(1, 'create table kept as select 1 as n');
  run('pg_ctl', 'stop', '-D', data[0] ?? '', '-m', 'fast', '-s');
  azure.advance('20m');
  await recipe.says('completed: it follows the other server');
  assert.deepEqual(
    recipe.said().filter((line) => !line.startsWith('pg_rewind:')),
    recipe.promised,
  );
  await poll(
    () => ask(0, "select to_regclass('kept') is not null and to_regclass('stray') is null") === 't',
    'the stray table to be gone',
  );
  const next = azure.schedule({ EventType: 'Reboot' });
  await recipe.approved(next.EventId);
  await recipe.says('Reboot: the other server is the primary: ready');
  assert.equal(ask(0, 'select pg_is_in_recovery()'), 't');
});
