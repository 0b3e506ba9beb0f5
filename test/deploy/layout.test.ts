// Small layers → an OCI archive whose digests, sizes and configuration fit; what a base needs.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeBaseSystem } from '../../deploy/container/base-system.ts';
import { writeLayout } from '../../deploy/container/layout.ts';
import { folderOf } from '../support/folder.ts';
import { command } from './command.ts';
import { readOciArchive } from './oci-archive.ts';

const AT = new Date('2026-11-22T00:00:00Z');

/** An archive of layers with one file each. */
async function archiveOf(t: TestContext, ...files: readonly string[]): Promise<string> {
  const folder = folderOf(t);
  const layers = files.map((file) => {
    writeFileSync(join(folder, file), `this is ${file}`);
    command('tar', ['-cf', join(folder, `${file}.tar`), '-C', folder, file]);
    return join(folder, `${file}.tar`);
  });
  const layout = join(folder, 'layout');
  const images = [{ architecture: 'x64', layers }] as const;
  await writeLayout({ folder: layout, images, name: 'bridge', version: '1.2.3', at: AT, user: 7 });
  command('tar', ['-cf', join(folder, 'oci.tar'), '-C', layout, 'oci-layout', 'index.json', 'manifest.json', 'blobs']);
  return join(folder, 'oci.tar');
}

test('every blob matches its digest, and the layers are in order', async (t) => {
  const { names, annotations, config, entries, file } = readOciArchive(await archiveOf(t, 'one', 'two'), folderOf(t));
  assert.deepEqual(
    entries.map(({ path }) => path),
    ['one', 'two'],
  );
  assert.equal(file('two'), 'this is two');
  assert.equal(names['io.containerd.image.name'], 'docker.io/library/bridge:1.2.3');
  assert.equal(annotations['org.opencontainers.image.created'], AT.toISOString());
  assert.deepEqual([config['User'], config['Labels']], ['7:7', annotations]);
});

test('a base without one of its packages is rejected with the name of that package', async (t) => {
  const packages = folderOf(t);
  process.env['CONTAINER_BASE'] = packages;
  t.after(() => delete process.env['CONTAINER_BASE']);
  writeFileSync(join(packages, 'base-files_12.4_amd64.deb'), '');
  mkdirSync(join(packages, 'gcc-12-base'));
  const folder = folderOf(t);
  const made = makeBaseSystem({
    architecture: 'x64',
    folder: join(folder, 'base'),
    work: join(folder, 'work'),
    cache: join(folder, 'cache'),
  });
  await assert.rejects(made, /has no gcc-12-base_VERSION_amd64\.deb of Debian 12/);
});
