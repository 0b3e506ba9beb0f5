// Tars of layers → an OCI image layout: blobs by digest, configuration, manifest, index.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };
import { type Architecture, DEBIAN_NAME } from '../packages/architectures.ts';

const SECOND = 1e9;
const TYPES = 'application/vnd.oci.image';
const LABELS = {
  title: packageJson.name,
  description: packageJson.description,
  licenses: packageJson.license,
  source: packageJson.homepage,
  documentation: `${packageJson.homepage}/blob/main/docs/operate/container.md`,
};

interface LayoutParts {
  /** The folder to write. */
  readonly folder: string;
  /** The first is the one that `docker load` without containerd takes. */
  readonly images: readonly PlatformImage[];
  readonly name: string;
  readonly version: string;
  readonly at: Date;
  readonly user: number;
}

interface PlatformImage {
  readonly architecture: Architecture;
  /** The tars of the layers, the lowest first. */
  readonly layers: readonly string[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** A tag may not contain the `+` of a build between releases. */
export function imageTag(version: string): string {
  return version.replace('+', '-');
}

export async function writeLayout(parts: LayoutParts): Promise<void> {
  const { folder, images, name, version, at, user } = parts;
  const blobs = join(folder, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const blob = async (kind: string, content: Uint8Array): Promise<Descriptor> => {
    const hash = sha256(content);
    await writeFile(join(blobs, hash), content);
    return { mediaType: `${TYPES}.${kind}`, digest: `sha256:${hash}`, size: content.length };
  };
  const annotations = labels(version, at);
  const written: WrittenImage[] = [];
  for (const { architecture, layers } of images) {
    const platform = { architecture: DEBIAN_NAME[architecture], os: 'linux' };
    const packed = await packLayers(layers, blob);
    const { diffIds } = packed;
    const config = await blob('config.v1+json', json(imageConfig({ name, user, at, annotations, diffIds, platform })));
    const manifest = await blob(
      'manifest.v1+json',
      json({ ...index('manifest.v1+json'), config, layers: packed.layers, annotations }),
    );
    written.push({ config, layers: packed.layers, manifest: { ...manifest, platform } });
  }
  const manifests = written.map(({ manifest }) => manifest);
  const all = await blob('index.v1+json', json({ ...index('index.v1+json'), manifests, annotations }));
  await writeNames(folder, `${name}:${imageTag(version)}`, all, written);
}

interface WrittenImage {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly manifest: Descriptor & { readonly platform: object };
}

/** Compresses the layers; `diffIds` are the digests of the uncompressed tars. */
async function packLayers(
  layers: readonly string[],
  blob: (kind: string, content: Uint8Array) => Promise<Descriptor>,
): Promise<{ readonly layers: readonly Descriptor[]; readonly diffIds: readonly string[] }> {
  const diffIds: string[] = [];
  const packed: Descriptor[] = [];
  for (const layer of layers) {
    const content = await readFile(layer);
    diffIds.push(`sha256:${sha256(content)}`);
    packed.push(await blob('layer.v1.tar+gzip', await promisify(gzip)(content)));
  }
  return { layers: packed, diffIds };
}

/** Gives the index of all platforms its name, and the first image that of `docker load`. */
async function writeNames(
  folder: string,
  name: string,
  all: Descriptor,
  [first]: readonly WrittenImage[],
): Promise<void> {
  // The first is for podman and skopeo, the second for containerd and Docker.
  const annotations = {
    'org.opencontainers.image.ref.name': name,
    'io.containerd.image.name': `docker.io/library/${name}`,
  };
  await writeFile(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
  await writeFile(
    join(folder, 'index.json'),
    json({ ...index('index.v1+json'), manifests: [{ ...all, annotations }] }),
  );
  if (first === undefined) return;
  // `docker load` without containerd reads this manifest; `docker save` writes it next to the layout.
  const path = ({ digest }: Descriptor) => `blobs/sha256/${digest.slice('sha256:'.length)}`;
  await writeFile(
    join(folder, 'manifest.json'),
    json([{ Config: path(first.config), RepoTags: [name], Layers: first.layers.map(path) }]),
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
  readonly platform: object;
}

/** Healthcheck is Docker's extension: podman reads it too, Kubernetes uses probes instead. */
function imageConfig({ name, user, at, annotations, diffIds, platform }: ConfigParts) {
  const home = `/usr/lib/${name}`;
  return {
    created: at.toISOString(),
    ...platform,
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
        // Of the container's limit. Without it, Node lets the heap grow to 259 MB, whatever the limit is.
        '--max-old-space-size-percentage=35',
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
