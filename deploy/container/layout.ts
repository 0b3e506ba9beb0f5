// Tars of layers → an OCI image layout: blobs by digest, configuration, manifest, index.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };

const SECOND = 1e9;
const TYPES = 'application/vnd.oci.image';
const LABELS = {
  title: packageJson.name,
  description: packageJson.description,
  licenses: packageJson.license,
  source: 'https://github.com/scheduled-events-bridge/scheduled-events-bridge',
  documentation:
    'https://github.com/scheduled-events-bridge/scheduled-events-bridge/blob/main/docs/operate/container.md',
};

interface LayoutParts {
  /** The file to write. */
  readonly folder: string;
  /** The tars of the layers, the lowest first. */
  readonly layers: readonly string[];
  readonly name: string;
  readonly version: string;
  readonly at: Date;
  readonly user: number;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export async function writeLayout({ folder, layers, name, version, at, user }: LayoutParts): Promise<void> {
  const blobs = join(folder, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const blob = async (kind: string, content: Uint8Array): Promise<Descriptor> => {
    const hash = sha256(content);
    await writeFile(join(blobs, hash), content);
    return { mediaType: `${TYPES}.${kind}`, digest: `sha256:${hash}`, size: content.length };
  };
  const diffIds: string[] = [];
  const packed: Descriptor[] = [];
  for (const layer of layers) {
    const content = await readFile(layer);
    diffIds.push(`sha256:${sha256(content)}`);
    packed.push(await blob('layer.v1.tar+gzip', await promisify(gzip)(content)));
  }
  const annotations = labels(version, at);
  const config = await blob('config.v1+json', json(imageConfig({ name, user, at, annotations, diffIds })));
  const manifest = await blob(
    'manifest.v1+json',
    json({ ...index('manifest.v1+json'), config, layers: packed, annotations }),
  );
  // The first is for podman and skopeo, the second for containerd and Docker.
  const names = {
    'org.opencontainers.image.ref.name': `${name}:${version}`,
    'io.containerd.image.name': `docker.io/library/${name}:${version}`,
  };
  const platform = { architecture: 'amd64', os: 'linux' };
  await writeFile(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
  await writeFile(
    join(folder, 'index.json'),
    json({ ...index('index.v1+json'), manifests: [{ ...manifest, platform, annotations: names }] }),
  );
  // `docker load` without containerd reads this manifest; `docker save` writes it next to the layout.
  const path = ({ digest }: Descriptor) => `blobs/sha256/${digest.slice('sha256:'.length)}`;
  await writeFile(
    join(folder, 'manifest.json'),
    json([{ Config: path(config), RepoTags: [`${name}:${version}`], Layers: packed.map(path) }]),
  );
}

function index(kind: string) {
  return { schemaVersion: 2, mediaType: `${TYPES}.${kind}` };
}

interface ConfigParts {
  readonly name: string;
  readonly user: number;
  readonly at: Date;
  readonly annotations: Readonly<Record<string, string>>;
  readonly diffIds: readonly string[];
}

/** Healthcheck is Docker's extension: podman reads it too, Kubernetes uses probes instead. */
function imageConfig({ name, user, at, annotations, diffIds }: ConfigParts) {
  const home = `/usr/lib/${name}`;
  return {
    created: at.toISOString(),
    ...{ architecture: 'amd64', os: 'linux' },
    config: {
      User: `${user}:${user}`,
      Env: ['PATH=/usr/bin', `SCHEDULED_EVENTS_BRIDGE_CONFIG=/etc/${name}/bridge.yaml`],
      // The command, with the flags that the packages' launcher gives `run`.
      Entrypoint: [
        `${home}/bin/node`,
        '--disable-sigusr1',
        '--no-opt',
        '--no-maglev',
        '--max-semi-space-size=1',
        `${home}/dist/main.js`,
      ],
      Cmd: ['run'],
      WorkingDir: '/',
      Volumes: { [`/var/lib/${name}`]: {} },
      StopSignal: 'SIGTERM',
      Labels: annotations,
      Healthcheck: {
        Test: ['CMD', `/usr/bin/${name}`, 'health'],
        ...{ Interval: 30 * SECOND, Timeout: 10 * SECOND, StartPeriod: 120 * SECOND, Retries: 3 },
      },
    },
    rootfs: { type: 'layers', diff_ids: diffIds },
    history: diffIds.map(() => ({ created: at.toISOString(), created_by: 'npm run package' })),
  };
}

function labels(version: string, at: Date): Readonly<Record<string, string>> {
  const all = { ...LABELS, version, created: at.toISOString() };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [`org.opencontainers.image.${key}`, value]));
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
