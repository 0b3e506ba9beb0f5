// The Helm chart with each file of chart-values → objects, checked (behaviour 12.20, 12.22).
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { ADAPTERS } from '../../adapters/index.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { jsonSchema } from '../../src/config/json-schema.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../far-sides/certificate.ts';
import { folderOf } from '../support/folder.ts';
import { CHART, type KubernetesObject, noChartTools, only, type Rendered, render, VALUES } from './rendered-chart.ts';

const options = { skip: noChartTools(), timeout: 120_000 };
const text = (path: string) => readFileSync(join(CHART, path), 'utf8');

/** What Secrets and the kubelet would bring. */
const OUTSIDE = {
  env: {
    HOOK_URL: 'https://example.com/hook',
    HOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLTSw',
    ORDERS_TOKEN: 'orders-0123456789',
    READ_TOKEN: 'grafana-0123456789',
    KAFKA_PASSWORD: 'swordfish',
    NODE_NAME: 'aks-pool-12345678-vmss000046',
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    KUBERNETES_SERVICE_PORT: '443',
  },
  readFile: (path: string) => (path.endsWith('.key') ? PRIVATE_KEY : CERTIFICATE),
};

let rendered: Readonly<Record<string, Rendered>> = {};
before(() => {
  if (!options.skip) rendered = render(VALUES);
});

const of = (name: string): Rendered => rendered[name] ?? assert.fail(name);
const kinds = (name: string) => of(name).objects.map(({ kind }) => kind);

interface Pod {
  readonly hostNetwork: boolean;
  readonly automountServiceAccountToken: boolean;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly readinessProbe: { readonly httpGet: { readonly host?: string } };
}

function podOf(name: string): Pod {
  const { spec } = only(of(name), 'DaemonSet') as unknown as {
    readonly spec: { readonly template: { readonly spec: Pod } };
  };
  return spec.template.spec;
}

function mainOf(name: string): Container {
  return podOf(name).containers[0] ?? assert.fail(name);
}

/** `RESOURCE VERB` for each right that a role of it gives. */
function rightsOf(name: string): readonly string[] {
  return rightsIn(of(name).objects);
}

function rightsIn(objects: readonly KubernetesObject[]): readonly string[] {
  const roles = objects.filter(({ kind }) => /Role$/.test(kind)) as unknown as readonly (KubernetesObject & {
    readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  })[];
  const rights = roles.flatMap(({ rules }) =>
    rules.flatMap(({ resources, verbs }) => resources.flatMap((each) => verbs.map((verb) => `${each} ${verb}`))),
  );
  return rights.sort();
}

for (const name of Object.keys(VALUES)) {
  test(
    `with ${name}.yaml helm reports nothing, and every object is valid from Kubernetes 1.30 to 1.36`,
    options,
    () => {
      const { refused, objects, remarks, faults } = of(name);
      assert.deepEqual([refused, remarks, faults], [undefined, [], []]);
      assert.ok(objects.length > 1);
    },
  );

  test(`with ${name}.yaml the bridge accepts the rendered configuration`, options, () => {
    const { data } = only(of(name), 'ConfigMap') as unknown as { readonly data: Readonly<Record<string, string>> };
    const checked = readConfig(data['bridge.yaml'] ?? '', {
      adapters: ADAPTERS,
      ...OUTSIDE,
      directory: '/etc/scheduled-events-bridge',
    });
    if ('faults' in checked) assert.fail(JSON.stringify(checked.faults));
    assert.equal(checked.options.store.path, '/var/lib/scheduled-events-bridge');
  });

  test(
    `with ${name}.yaml no object contains a secret, and containers have only the rights that they need`,
    options,
    () => {
      const { containers, initContainers, hostNetwork, nodeSelector } = podOf(name);
      for (const { env = [] } of [...containers, ...initContainers]) {
        assert.deepEqual(
          env.filter((each) => 'value' in each),
          [],
        );
      }
      const { runAsUser, ...main } = containers[0]?.securityContext ?? {};
      assert.deepEqual(
        [runAsUser, main],
        [undefined, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }],
      );
      assert.deepEqual(initContainers[0]?.securityContext['capabilities'], { drop: ['ALL'], add: ['CHOWN'] });
      assert.deepEqual(
        [hostNetwork, nodeSelector['kubernetes.io/os'], nodeSelector['kubernetes.io/arch']],
        [true, 'linux', undefined],
      );
    },
  );
}

test('the schemas reject a misspelt field', options, (t) => {
  const chart = join(folderOf(t), 'chart');
  cpSync(CHART, chart, { recursive: true });
  const path = join(chart, 'templates/daemonset.yaml');
  writeFileSync(path, readFileSync(path, 'utf8').replace('hostNetwork:', 'hostNetwrok:'));
  const { faults } = render({ default: '{}' }, chart).default;
  assert.equal(faults.length, 7, faults.join('\n'));
});

test('unknown or contradictory values are rejected with their path', options, () => {
  const refused: Readonly<Record<string, string>> = {
    'colour: blue': "'colour' not allowed",
    'image: { repositry: here }': "'/image'",
    'config: { sink: {} }': "'/config'",
    'config: { store: { path: /elsewhere } }': "'/config/store'",
    'config: { http: { health: "127.0.0.1:1" } }': "'/config/http'",
    'config: { sinks: { journal: null } }': "'/config/sinks'",
    'secretEnv: { TOKEN: in-clear-text }': "'/secretEnv/TOKEN'",
    'secretEnv: { NODE_NAME: { name: a, key: b } }': 'NODE_NAME',
    'config: { sinks: { hook: { type: webhook, secrets: [in-clear-text] } } }': "'/config/sinks/hook/secrets/0'",
    'config: { sinks: { queue: { type: kafka, sasl: { password: in-clear-text } } } }':
      "'/config/sinks/queue/sasl/password'",
    'config: { approvals: { approvers: { orders: { token: in-clear-text } } } }':
      "'/config/approvals/approvers/orders/token'",
    'config: { http: { readers: { grafana: { token: in-clear-text } } } }': "'/config/http/readers/grafana/token'",
    'podLabels: { app.kubernetes.io/name: other }': 'app.kubernetes.io/name',
    'serviceAccount: { create: false }\nconfig: { sinks: { node: { type: kubernetes, prepare: [cordon] } } }':
      'every pod with the account default',
    'store: { hostPath: /var }': "'/store/hostPath'",
    'store: { hostPath: /var/../etc }': "'/store/hostPath'",
    'health: { port: 80 }': "'/health/port'",
    'tolerations: [{ operator: exists }]': "'/tolerations/0/operator'",
    'updateStrategy: { maxSurge: 1 }': "'/updateStrategy'",
    'terminationGracePeriodSeconds: 5': "'/terminationGracePeriodSeconds'",
  };
  const played = render(Object.fromEntries(Object.keys(refused).map((values) => [values, values])));
  for (const [values, expected] of Object.entries(refused))
    assert.ok(played[values]?.refused?.includes(expected), `${values}: ${played[values]?.refused}`);
});

test('the schema of the values has each section of the configuration, and no other', () => {
  const { properties } = JSON.parse(text('values.schema.json')) as { properties: { config: { properties: object } } };
  const { properties: sections } = jsonSchema(ADAPTERS) as { readonly properties: object };
  assert.deepEqual(Object.keys(properties.config.properties).sort(), Object.keys(sections).sort());
});

test(
  'without a sink of type kubernetes there is no role and no token; with one, the rights that its steps need',
  options,
  () => {
    assert.deepEqual([rightsOf('default'), podOf('default').automountServiceAccountToken], [[], false]);
    assert.equal(podOf('nodes').automountServiceAccountToken, true);
    assert.deepEqual(rightsOf('nodes'), [
      'events create',
      'nodes get',
      'nodes patch',
      'nodes/status patch',
      'pods list',
      'pods/eviction create',
    ]);
    assert.deepEqual(rightsOf('nodes-told'), ['events create', 'nodes get', 'nodes patch']);
    assert.deepEqual(rightsOf('nodes-labelled'), ['events create', 'nodes get', 'nodes patch']);
    assert.ok(kinds('nodes-labelled').includes('ValidatingAdmissionPolicy'));
  },
);

test('with any tolerations, a bridge that taints its node may come back to it', options, () => {
  const node = 'config: { sinks: { node: { type: kubernetes, node: { env: NODE_NAME }, prepare: [taint] } } }';
  const tolerations = '{ key: dedicated, operator: Exists }';
  const played = render({
    none: `tolerations: []\n${node}`,
    some: `tolerations: [${tolerations}]\n${node}`,
    all: node,
    untainted: 'tolerations: []',
  });
  const own = { key: 'scheduled-events-bridge.github.io/maintenance', operator: 'Exists', effect: 'NoSchedule' };
  const tolerated = (rendered: Rendered) => {
    const { spec } = only(rendered, 'DaemonSet') as unknown as {
      readonly spec: { readonly template: { readonly spec: object } };
    };
    return (spec.template.spec as { readonly tolerations?: readonly object[] }).tolerations;
  };
  assert.deepEqual(tolerated(played.none), [own]);
  assert.deepEqual(tolerated(played.some), [{ key: 'dedicated', operator: 'Exists' }, own]);
  assert.deepEqual([tolerated(played.all), tolerated(played.untainted)], [[{ operator: 'Exists' }], undefined]);
});

test('the rights for every step equal those of deploy/kubernetes/rbac.yaml', options, () => {
  const source = readFileSync(join(CHART, '../../kubernetes/rbac.yaml'), 'utf8');
  assert.deepEqual(
    rightsOf('nodes'),
    rightsIn(parseAllDocuments(source).map((document) => document.toJS() as KubernetesObject)),
  );
});

test('the health address is loopback unless a client outside the node needs it', options, () => {
  const host = (name: string) => mainOf(name).readinessProbe.httpGet.host;
  assert.deepEqual([host('default'), host('monitoring'), host('webhook')], ['127.0.0.1', undefined, undefined]);
});

test('a changed configuration changes the pod template', options, () => {
  const checksum = (name: string) =>
    /"checksum\/config":"[0-9a-f]{64}"/.exec(JSON.stringify(only(of(name), 'DaemonSet')))?.[0] ?? assert.fail(name);
  assert.notEqual(checksum('default'), checksum('webhook'));
  assert.equal(checksum('default'), checksum('air-gapped'));
});

test('the alert rules equal those of deploy/monitoring', options, () => {
  const { spec } = only(of('monitoring'), 'PrometheusRule') as unknown as { readonly spec: unknown };
  const source = readFileSync(join(CHART, '../../monitoring/rules.yaml'), 'utf8');
  assert.equal(text('rules.yaml'), source, 'copy deploy/monitoring/rules.yaml into the chart');
  assert.deepEqual(spec, parse(source));
});

test('the job of the metrics has the name that the rules need, for any name of the release', options, () => {
  const renamed = render({ renamed: `${VALUES['monitoring']}\nfullnameOverride: other\n` }).renamed;
  assert.match(
    JSON.stringify(only(renamed, 'ServiceMonitor')),
    /\{"targetLabel":"job","replacement":"scheduled-events-bridge"\}/,
  );
});

test('optional objects are absent by default', options, () => {
  assert.deepEqual(kinds('default').sort(), ['ConfigMap', 'DaemonSet', 'ServiceAccount']);
});

const page = readFileSync(join(CHART, '../../../docs/operate/kubernetes.md'), 'utf8');

test('the values on the page are accepted', options, () => {
  const shown = [...page.matchAll(/^```yml\n(.*?)^```$/gms)].map(([, block = '']) => block);
  assert.equal(shown.length, 4);
  for (const { refused, faults } of Object.values(render(Object.fromEntries(shown.map((values) => [values, values])))))
    assert.deepEqual([refused, faults], [undefined, []]);
});

test('the page of the chart has a row for each value', () => {
  const known = Object.entries(parse(text('values.yaml')) as Readonly<Record<string, unknown>>);
  const whole = ['config', 'resources'];
  const paths = known.flatMap(([name, value]) => {
    const members =
      !whole.includes(name) && value && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : [];
    return members.length > 0 ? members.map((member) => `${name}.${member}`) : [name];
  });
  const rows = new Set(
    [...page.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, path]) => path),
    ),
  );
  assert.deepEqual(
    paths.filter((path) => !rows.has(path)),
    [],
  );
});

test('the chart has the version of the package', () => {
  const { version, appVersion } = parse(text('Chart.yaml')) as {
    readonly version: string;
    readonly appVersion: string;
  };
  assert.deepEqual([version, appVersion], [packageJson.version, packageJson.version]);
});
