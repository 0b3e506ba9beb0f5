// The demo of deploy/container/ → whether its compose file holds together and its bridge starts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { run } from '../support/program.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/container');
interface Service {
  readonly image: string;
  readonly [key: string]: unknown;
}
const { services, volumes } = parse(readFileSync(join(FOLDER, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
  volumes: object;
};

test('the demo runs this version, without rights that it does not need', () => {
  for (const name of ['azure', 'bridge']) {
    const { image, read_only, cap_drop, security_opt, mem_limit } = services[name] ?? assert.fail(name);
    assert.equal(image, `${packageJson.name}:${packageJson.version}`);
    assert.deepEqual(
      [read_only, cap_drop, security_opt, mem_limit],
      [true, ['ALL'], ['no-new-privileges:true'], '96m'],
    );
  }
});

test('every service that another depends on exists, and so does every volume', () => {
  const waitedFor = Object.values(services).flatMap(({ depends_on }) => Object.keys(depends_on ?? {}));
  for (const name of waitedFor) assert.ok(services[name], name);
  const mounts = Object.values(services).flatMap((service) => (service['volumes'] as string[] | undefined) ?? []);
  const named = mounts.flatMap((mount) => (mount.startsWith('.') ? [] : (mount.split(':')[0] ?? '')));
  assert.deepEqual(named, Object.keys(volumes));
});

test('the configuration of its bridge is valid', async (t) => {
  const { code, stdout } = await run(t, ['check', '--config', join(FOLDER, 'bridge.yaml')]);
  assert.deepEqual([code, stdout.includes('is valid')], [0, true]);
});
