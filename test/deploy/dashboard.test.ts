// deploy/monitoring → is what its source makes, of metrics that there are; runbooks.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dashboard } from '../../deploy/monitoring/dashboard.ts';
import { metricsIn, PANELS, QUERIES, RULES, SHIPPED_DASHBOARD } from './shipped-monitoring.ts';

const page = (name: string) => readFileSync(join(import.meta.dirname, '../../docs/operate', name), 'utf8');

test('dashboard.json is up to date: run `node deploy/monitoring/dashboard.ts`', () => {
  assert.deepEqual(SHIPPED_DASHBOARD, JSON.parse(JSON.stringify(dashboard)));
});

test('dashboard and rules use only metrics of docs/operate/metrics.md', () => {
  const known = new Set(
    [...page('metrics.md').matchAll(/^\| `scheduled_events_bridge_(\w+)` \|/gm)].map(([, name]) => name),
  );
  const named = [...QUERIES, ...RULES]
    .flatMap(({ expr }) => metricsIn(expr))
    .map((name) => name.replace(/_bucket$/, ''));
  assert.ok(new Set(named).size > 25, 'the metrics were not found');
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});

test('each query of the dashboard uses the selected bridges and data source', () => {
  const other = QUERIES.filter(({ expr }) => metricsIn(expr).length !== expr.split('instance=~"$instance"').length - 1);
  assert.deepEqual(other, []);
  const ids = dashboard.panels.flatMap(({ targets = [], datasource }) => [
    datasource,
    ...targets.map((target) => target.datasource),
  ]);
  assert.deepEqual(
    [...new Set(ids.map((source) => source?.uid ?? 'row'))].sort(),
    ['$' + '{datasource}', 'row'].sort(),
  );
});

test('panels do not overlap, have distinct names, and fit into the width', () => {
  const cells = PANELS.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
  assert.ok(PANELS.every(({ gridPos: { x, w } }) => x >= 0 && x + w <= 24));
  assert.equal(new Set(PANELS.map(({ id }) => id)).size, PANELS.length);
});

test('each alert has its section in docs/operate/alerts.md, in the order of the rules, and links to it', () => {
  const sections = [...page('alerts.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(
    sections,
    RULES.map(({ alert }) => alert),
  );
  for (const { alert, annotations } of RULES)
    assert.ok(
      annotations.runbook_url.endsWith(`/docs/operate/alerts.md#${alert.toLowerCase()}`),
      annotations.runbook_url,
    );
});
