// The metrics of docs/operate/metrics.md → a Grafana dashboard; run, it writes dashboard.json.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPROVALS, DELIVERY, PROCESS } from './delivery-panels.ts';
import { DATASOURCE, placed } from './panels.ts';
import { EVENTS, NOW, SIGHT } from './sight-panels.ts';

const INSTANCES = 'label_values(scheduled_events_bridge_build_info, instance)';

export const dashboard = {
  uid: 'scheduled-events-bridge',
  title: 'Scheduled Events',
  description: 'What scheduled-events-bridge sees, delivers and approves. Made by deploy/monitoring/dashboard.ts.',
  tags: ['azure', 'scheduled-events'],
  schemaVersion: 39,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  annotations: { list: [] },
  links: [],
  templating: {
    list: [
      { type: 'datasource' as const, name: 'datasource', label: 'Prometheus', query: 'prometheus' },
      {
        ...{ type: 'query' as const, name: 'instance', label: 'Bridge', datasource: DATASOURCE, definition: INSTANCES },
        query: { query: INSTANCES, refId: 'instances' },
        ...{ refresh: 2, sort: 1, multi: true, includeAll: true, allValue: '.*' },
        current: { selected: true, text: ['All'], value: ['$__all'] },
      },
    ],
  },
  panels: placed([...NOW, ...SIGHT, ...EVENTS, ...DELIVERY, ...APPROVALS, ...PROCESS]),
};

if (import.meta.main) writeFileSync(join(import.meta.dirname, 'dashboard.json'), `${JSON.stringify(dashboard, null, 2)}\n`);
