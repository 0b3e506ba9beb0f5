// nginx and HAProxy with a page's configuration → real ones before applications of the test.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const ENV = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };

/** For the `skip` of a test: false, or the reason. Throws instead if the programs are required. */
export function missingProgram(areRequired: boolean, ...programs: readonly string[]): string | false {
  const missing = programs.filter((program) => spawnSync(program, ['--version'], { env: ENV }).error !== undefined);
  assert.ok(missing.length === 0 || !areRequired, `${missing.join(', ')} is missing`);
  return missing.length > 0 && `${missing.join(', ')} is missing`;
}

function runServer(t: TestContext, program: string, args: readonly string[]): void {
  const child = spawn(program, args, { stdio: 'ignore', env: ENV });
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
}

/** In the foreground, until the test ends. */
export function runHaproxy(t: TestContext, folder: string, config: string): void {
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, config);
  runServer(t, 'haproxy', ['-db', '-f', file]);
}

/**
 * In the foreground, until the test ends. All of its files are in the folder; `main` are further lines of its main
 * section.
 */
export function runNginx(t: TestContext, folder: string, config: string, main = ''): void {
  const file = join(folder, 'nginx.conf');
  const log = join(folder, 'error.log');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ');
  const here = config.replace('http {', `http { access_log off; ${temporary}`);
  writeFileSync(file, `${main} pid ${folder}/nginx.pid; error_log ${log}; daemon off;\n${here}`);
  runServer(t, 'nginx', ['-e', log, '-c', file]);
}

/** An application: `/slow` is answered when the test says so, everything else at once with its name. */
export async function application(t: TestContext, name: string) {
  const slow: ServerResponse[] = [];
  const server = createServer(({ url }, response) => {
    response.setHeader('connection', 'close');
    if (url === '/slow') slow.push(response);
    else response.end(name);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, slow };
}

/** The applications that answer eight requests in a row, sorted; `nobody` stands for a failure. */
export async function answering(url: string): Promise<string> {
  const names = new Set<string>();
  for (let count = 0; count < 8; count++) {
    const request = fetch(url).then((answer) => answer.text());
    names.add(await request.catch(() => 'nobody'));
  }
  return [...names].sort().join(' ');
}
