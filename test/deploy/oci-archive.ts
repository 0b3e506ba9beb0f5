// An OCI archive → its configuration, manifest and the files of its layers, every digest checked.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { command } from './command.ts';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface OciArchive {
  readonly names: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** As the image's own configuration says. */
  readonly architecture: string;
  readonly config: { readonly [key: string]: unknown };
  /** All that a container from it has, in bytes. */
  readonly size: number;
  /** As `tar -tv` shows them: mode, owner, size, path. */
  readonly entries: readonly LayerEntry[];
  /** A file of the last layer that has it. */
  readonly file: (path: string) => string;
}

export interface LayerEntry {
  readonly mode: string;
  readonly owner: string;
  readonly path: string;
}

/** `folder`: an empty one. @throws where a size or digest differs from what is there */
export function readOciArchive(path: string, folder: string, architecture = 'amd64'): OciArchive {
  command('tar', ['-xf', path, '-C', folder]);
  assert.deepEqual(json(readFileSync(join(folder, 'oci-layout'))), { imageLayoutVersion: '1.0.0' });
  const blob = ({ digest, size }: Descriptor): Buffer => {
    const content = readFileSync(join(folder, 'blobs', digest.replace(':', '/')));
    assert.deepEqual([`sha256:${sha256(content)}`, content.length], [digest, size]);
    return content;
  };
  const { manifests: names } = json(readFileSync(join(folder, 'index.json'))) as {
    manifests: [Descriptor & { annotations: Record<string, string> }];
  };
  const { manifests } = json(blob(names[0])) as { manifests: (Descriptor & { platform: { architecture: string } })[] };
  const found = manifests.find(({ platform }) => platform.architecture === architecture);
  const manifest = json(blob(found ?? assert.fail(architecture))) as {
    config: Descriptor;
    layers: Descriptor[];
    annotations: Record<string, string>;
  };
  const config = json(blob(manifest.config)) as {
    architecture: string;
    rootfs: { diff_ids: string[] };
    config: Record<string, unknown>;
  };
  const tars = manifest.layers.map((layer, index) => {
    const content = gunzipSync(blob(layer));
    assert.equal(`sha256:${sha256(content)}`, config.rootfs.diff_ids[index]);
    const tar = join(folder, `${index}.tar`);
    writeFileSync(tar, content);
    return { tar, size: content.length };
  });
  const root = join(folder, 'root');
  mkdirSync(root);
  for (const { tar } of tars) command('tar', ['-xf', tar, '-C', root]);
  return {
    names: names[0].annotations,
    architecture: config.architecture,
    annotations: manifest.annotations,
    config: config.config,
    size: tars.reduce((sum, each) => sum + each.size, 0),
    entries: tars.flatMap(({ tar }) => entriesOf(tar)),
    file: (path) => readFileSync(join(root, path), 'utf8'),
  };
}

function entriesOf(tar: string): readonly LayerEntry[] {
  const lines = command('tar', ['--numeric-owner', '-tvf', tar]).trim().split('\n');
  return lines.map((line) => {
    const [mode = '', owner = '', , , , path = ''] = line.split(/\s+/);
    return { mode, owner, path };
  });
}

function json(content: Buffer): unknown {
  return JSON.parse(content.toString());
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
