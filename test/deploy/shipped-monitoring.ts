// deploy/monitoring → its rules and the panels of its dashboard, read as Prometheus and Grafana do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { parse } from 'yaml';

export const MONITORING = join(import.meta.dirname, '../../deploy/monitoring');

const rule = v.strictObject({
  alert: v.string(),
  expr: v.string(),
  for: v.optional(v.string()),
  labels: v.strictObject({ severity: v.picklist(['warning', 'critical']) }),
  annotations: v.strictObject({ summary: v.string(), description: v.string(), runbook_url: v.string() }),
});
const rulesFile = v.strictObject({ groups: v.tuple([v.strictObject({ name: v.string(), rules: v.array(rule) })]) });

export const RULES_FILE = join(MONITORING, 'rules.yaml');
export const RULES = v.parse(rulesFile, parse(readFileSync(RULES_FILE, 'utf8'))).groups[0].rules;

const panel = v.looseObject({
  id: v.number(),
  title: v.string(),
  gridPos: v.strictObject({ x: v.number(), y: v.number(), w: v.number(), h: v.number() }),
  targets: v.optional(v.array(v.looseObject({ refId: v.string(), expr: v.string(), legendFormat: v.string() })), []),
});

export const SHIPPED_DASHBOARD: unknown = JSON.parse(readFileSync(join(MONITORING, 'dashboard.json'), 'utf8'));
export const PANELS = v.parse(v.looseObject({ panels: v.array(panel) }), SHIPPED_DASHBOARD).panels;

/** Each query of the dashboard, with where it stands and how its series are named. */
export const QUERIES = PANELS.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);

/** The metrics of the bridge that a query names, without their prefix. */
export function metricsIn(expr: string): string[] {
  return [...expr.matchAll(/\bscheduled_events_bridge_(\w+)/g)].map(([, name = '']) => name);
}
