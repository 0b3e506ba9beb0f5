// The image: what is in its archive, and one life of a hardened container from it (behaviour 12).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { freePorts, localSimulator } from '../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { BUILD_VERSION } from '../support/build-version.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { hook, received } from '../support/running-bridge.ts';
import { builtImage, IMAGE, noContainer } from './built-image.ts';
import { readOciArchive } from './oci-archive.ts';
import { Podman } from './podman.ts';

const { name: NAME } = packageJson;
const version = BUILD_VERSION;
const options = { skip: noContainer, timeout: 300_000 };
const AT = new Date('2026-11-22T00:00:00Z');

let archive = '';
let podman: Podman;
before(async () => {
  if (noContainer) return;
  archive = await builtImage(AT);
  podman = new Podman();
  podman.run('load', '--quiet', '--input', archive);
});
after(() => {
  if (!noContainer) podman[Symbol.dispose]();
});

test('a second build gives the same bytes', options, async () => {
  assert.equal(readFileSync(await builtImage(AT)).equals(readFileSync(archive)), true);
});

test(
  'the archive has its metadata, runs as a user that the host does not have, and has no shell and no setuid files',
  options,
  (t) => {
    const { names, annotations, config, size, entries, file } = readOciArchive(archive, folderOf(t));
    assert.equal(names['org.opencontainers.image.ref.name'], IMAGE);
    assert.equal(annotations['org.opencontainers.image.version'], version);
    assert.equal(annotations['org.opencontainers.image.created'], AT.toISOString());
    assert.deepEqual(config['Labels'], annotations);
    assert.deepEqual([config['User'], config['Cmd'], config['StopSignal']], ['65532:65532', ['run'], 'SIGTERM']);
    assert.deepEqual(config['Volumes'], { [`/var/lib/${NAME}`]: {} });
    assert.ok(size < 160e6, `${size} bytes unpacked`);
    assert.deepEqual(
      entries.filter(({ mode }) => /s/i.test(mode.slice(1))),
      [],
    );
    const programs = entries.filter(
      ({ mode, path }) => mode.startsWith('-') && mode.includes('x') && !/\.so\.\d/.test(path),
    );
    const home = `usr/lib/${NAME}`;
    assert.deepEqual(
      programs.map(({ path }) => path),
      [`${home}/bin/node`, `${home}/dist/main.js`],
    );
    const strangers = entries
      .filter(({ owner }) => owner !== '0/0')
      .map(({ mode, owner, path }) => `${mode} ${owner} ${path}`);
    assert.deepEqual(strangers, [`drwx------ 65532/65532 var/lib/${NAME}/`]);
    assert.match(file('usr/lib/os-release'), /^ID=debian$/m);
  },
);

test('the image contains all licences, and lists its contents', options, (t) => {
  const { entries, file } = readOciArchive(archive, folderOf(t));
  const { components } = JSON.parse(file(`usr/lib/${NAME}/sbom.cdx.json`)) as {
    components: { name: string; version: string; purl: string }[];
  };
  const debian = components.filter(({ purl }) => purl.startsWith('pkg:deb/debian/'));
  assert.ok(debian.some(({ name }) => name === 'libc6'));
  for (const { name, version } of debian) {
    assert.ok(file(`var/lib/dpkg/status.d/${name}`).includes(`\nVersion: ${version}\n`));
    assert.match(file(`usr/share/doc/${name}/copyright`), /licen[cs]e/i);
  }
  assert.ok(components.some(({ name }) => name === 'node'));
  const paths = entries.map(({ path }) => path);
  for (const path of ['NODE-LICENSE', 'LICENSE', 'dist/THIRD-PARTY-NOTICES'])
    assert.ok(paths.includes(`usr/lib/${NAME}/${path}`), path);
});

test('without arguments it runs its own configuration, which is valid', options, () => {
  assert.equal(podman.once(IMAGE, '--version').trim(), version);
  assert.match(podman.once(IMAGE, 'check'), new RegExp(`^/etc/${NAME}/bridge.yaml: the configuration is valid`));
});

/** A simulator, a bridge of that name, and a receiver of its webhooks. */
async function between(t: TestContext, name: string) {
  const [azure, receiver, port] = [await localSimulator(t), await WebhookReceiver.start(), await freePorts()];
  t.after(() => receiver[Symbol.asyncDispose]());
  const whole = {
    version: 1,
    metadata: { endpoint: azure.url },
    store: { path: `/var/lib/${NAME}` },
    http: { listen: `127.0.0.1:${port}` },
    sinks: { hooks: hook(receiver.url) },
  };
  podman.bridge(t, name, whole);
  const healthy = () => podman.try('exec', name, NAME, 'health').status === 0;
  const ready = () => poll(healthy, () => podman.try('logs', name).stderr, 60_000);
  await ready();
  return { azure, receiver, ready };
}

test(
  'an event goes to the webhook, with 96 MB, a read-only root and no rights; SIGTERM ends it with 0',
  options,
  async (t) => {
    const { azure, receiver } = await between(t, 'life');
    const { EventId } = azure.schedule({ EventType: 'Reboot' });
    const id = `${EventId.toLowerCase()}:scheduled`;
    await poll(() => received(receiver.requests).has(id), id);
    const [{ MemorySwap, Memory, ReadonlyRootfs }] = JSON.parse(
      podman.run('inspect', '--format', '[{{json .HostConfig}}]', 'life'),
    );
    assert.deepEqual([Memory, MemorySwap, ReadonlyRootfs], [96 * 2 ** 20, 96 * 2 ** 20, true]);
    const status = readFileSync(
      `/proc/${podman.run('inspect', '--format', '{{.State.Pid}}', 'life').trim()}/status`,
      'utf8',
    );
    assert.match(status, /^Uid:\t65532\t65532\t65532\t65532$/m);
    assert.match(status, /^CapBnd:\t0{16}$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
    assert.equal(podman.try('exec', 'life', 'sh', '-c', 'true').status, 127, 'there is no shell');
    podman.run('stop', 'life');
    assert.equal(
      podman.run('inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', 'life').trim(),
      '0 false',
    );
  },
);

test(
  'an event that is undelivered at a stop or kill is delivered after a start, with the same bytes',
  options,
  async (t) => {
    const { azure, receiver, ready } = await between(t, 'owing');
    for (const end of [['stop'], ['kill', '--signal', 'KILL']]) {
      receiver.default = { status: 503 };
      const { EventId } = azure.schedule({ EventType: 'Reboot' });
      const id = `${EventId.toLowerCase()}:scheduled`;
      await poll(() => received(receiver.requests).has(id), id);
      podman.run(...end, 'owing');
      receiver.default = { status: 204 };
      const before = receiver.requests.length;
      podman.run('start', 'owing');
      await ready();
      await poll(() => received(receiver.requests.slice(before)).has(id), `${id} after ${end[0]}`);
      assert.equal(new Set(received(receiver.requests).get(id)).size, 1, 'the same bytes');
    }
  },
);
