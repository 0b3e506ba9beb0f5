// Values → the chart rendered and linted by helm's own library, and judged by Kubernetes' schemas.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
export const CHART = join(ROOT, 'deploy/helm/scheduled-events-bridge');
/** Those that Azure supports now, and a little around them. */
const KUBERNETES = ['1.30', '1.31', '1.32', '1.33', '1.34', '1.35', '1.36'];

/** A Python with helm-python-sdk and kubernetes-validate. */
const PYTHON = process.env['CHART_PYTHON'];

export type KubernetesObject = Readonly<Record<string, unknown>> & {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

export interface Rendered {
  /** Why the values were refused; the rest is absent then. */
  readonly refused?: string;
  readonly objects: readonly KubernetesObject[];
  /** Warnings and errors of `helm lint --strict`. */
  readonly remarks: readonly string[];
  /** What the strict schema of a version of Kubernetes refuses. */
  readonly faults: readonly string[];
}

/** For the `skip` of a test: false, or the reason. @throws instead with REQUIRE_CHART, as in CI */
export function noChartTools(): string | false {
  if (PYTHON) return false;
  if (process.env['REQUIRE_CHART']) throw new Error('REQUIRE_CHART is set, and CHART_PYTHON names no Python');
  return 'CHART_PYTHON names no Python with helm-python-sdk and kubernetes-validate';
}

/** The values of test/deploy/chart-values, by their names. */
export const VALUES: Readonly<Record<string, string>> = Object.fromEntries(
  globSync(join(import.meta.dirname, 'chart-values/*.yaml'))
    .sort()
    .map((path) => [basename(path, '.yaml'), readFileSync(path, 'utf8')]),
);

/** As the release `bridge` in the namespace `maintenance`. @throws where the tools themselves fail */
export function render<Name extends string>(
  values: Readonly<Record<Name, string>>,
  chart = CHART,
): Readonly<Record<Name, Rendered>> {
  const input = JSON.stringify({ chart, values, versions: KUBERNETES });
  const { status, stdout, stderr } = spawnSync(PYTHON ?? '', [join(import.meta.dirname, 'render_chart.py')], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`render_chart.py: ${stderr}`);
  return JSON.parse(stdout);
}

/** @throws where there is not exactly one */
export function only({ objects }: Rendered, kind: string): KubernetesObject {
  const found = objects.filter((each) => each.kind === kind);
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} of ${kind}`);
  return found[0];
}
