// The chart's containers with their rights alone → a ready bridge, an event (behaviour 12.21).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NetworkNamespace, noNetworkNamespace } from '../support/network-namespace.ts';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { noChartTools, only, render } from './rendered-chart.ts';

const noOtherUser = spawnSync('setpriv', ['--version']).status === 0 ? false : 'there is no setpriv';
const options = { skip: noChartTools() || noNetworkNamespace() || noOtherUser, timeout: 90_000 };
const MAIN = join(import.meta.dirname, '../../dist/main.js');

interface Pod {
  readonly securityContext: { readonly runAsUser: number };
  readonly initContainers: readonly [{ readonly args: readonly [string] }];
  readonly containers: readonly [
    { readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly host: string } } },
  ];
}

interface Parts {
  readonly pod: Pod;
  readonly config: string;
}

/** As with no values. */
function defaultParts(): Parts {
  const objects = render({ default: '{}' }).default;
  const { spec } = only(objects, 'DaemonSet') as unknown as {
    readonly spec: { readonly template: { readonly spec: Pod } };
  };
  const { data } = only(objects, 'ConfigMap') as unknown as { readonly data: { readonly 'bridge.yaml': string } };
  return { pod: spec.template.spec, config: data['bridge.yaml'] };
}

/** A folder with `bridge.yaml`, and `state` as the kubelet makes it for `DirectoryOrCreate`: root's, 0755. */
function nodeFolder(t: TestContext, config: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-node-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'state'), { mode: 0o755 });
  writeFileSync(join(folder, 'bridge.yaml'), config, { mode: 0o644 });
  return folder;
}

/**
 * The init container, then the bridge: on a read-only root but for the store, as their users, with their capabilities.
 */
function startPod(node: NetworkNamespace, folder: string, pod: Pod): Program {
  const user = pod.securityContext.runAsUser;
  const rights = (kept: string) => `setpriv --no-new-privs --bounding-set=${kept} --inh-caps=${kept}`;
  const lines = `
    mount -t tmpfs none /var/lib
    mkdir /var/lib/scheduled-events-bridge
    mount --bind ${folder}/state /var/lib/scheduled-events-bridge
    mount -o remount,bind,ro /
    ${rights('-all,+chown')} ${process.execPath} --eval "$OWN_THE_STORE"
    exec ${rights('-all')} --reuid ${user} --regid ${user} --clear-groups ${process.execPath} ${MAIN} run --config ${folder}/bridge.yaml`;
  const [OWN_THE_STORE] = pod.initContainers[0].args;
  return node.startLine(`unshare --mount sh -ec '${lines}'`, { env: { OWN_THE_STORE } });
}

async function ready(node: NetworkNamespace, { containers }: Pod, bridge: Program): Promise<void> {
  const { path, host } = containers[0].readinessProbe.httpGet;
  await poll(
    async () => (await node.run(`curl -sf http://${host}:8701${path}`)).code === 0,
    () => bridge.stderr,
  );
}

test(
  'with the default values, the bridge of a node is ready by its probe and publishes an event, also after its pod is recreated',
  options,
  async (t) => {
    const { pod, config } = defaultParts();
    const folder = nodeFolder(t, config);
    const node = NetworkNamespace.create(t, '169.254.169.254');
    await node.startBridge(['simulate', '--listen', '169.254.169.254:80']).lines(1);
    const stores = new Set<number>();
    for (const EventType of ['Reboot', 'Redeploy']) {
      const bridge = startPod(node, folder, pod);
      await ready(node, pod, bridge);
      const { uid, ino } = statSync(join(folder, 'state/outbox.db'));
      stores.add(ino);
      assert.deepEqual([uid, statSync(join(folder, 'state')).mode & 0o777], [pod.securityContext.runAsUser, 0o700]);
      await node.run(`curl -sf -d '{"EventType":"${EventType}"}' http://169.254.169.254/simulator/events`);
      await poll(
        () => bridge.stdout.includes(`"impact":"${EventType.toLowerCase()}"`),
        () => bridge.stdout + bridge.stderr,
      );
      await bridge.end('SIGKILL');
    }
    assert.equal(stores.size, 1, 'the store of the first pod');
  },
);
