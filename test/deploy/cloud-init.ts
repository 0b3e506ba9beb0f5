// deploy/azure/cloud-init.yaml, filled in → what it writes on a new machine and runs there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { parse } from 'yaml';

export const CLOUD_INIT_FILE = join(import.meta.dirname, '../../deploy/azure/cloud-init.yaml');
export const CLOUD_INIT = readFileSync(CLOUD_INIT_FILE, 'utf8');

/** The parameter `eventGrid`: false comments the lines of the sink out. */
const GRID = {
  on: { __GRID__: '', __GRID_URL__: 'https://scheduled-events-grid-abc.westeurope-1.eventgrid.azure.net/api/events' },
  off: { __GRID__: '# ', __GRID_URL__: '' },
};
const FAR_SIDES = {
  __SERVICE_BUS__: 'scheduled-events-bus-abc.servicebus.windows.net',
  __EVENT_HUBS__: 'scheduled-events-eh-abc.servicebus.windows.net',
  __CLIENT_ID__: '11111111-2222-3333-4444-555555555555',
};
/** What the template puts values in for. */
export const MARKS = [...Object.keys(FAR_SIDES), ...Object.keys(GRID.on), '__PACKAGE_URL__', '__PACKAGE_SHA256__'];

const file = v.strictObject({ path: v.string(), permissions: v.string(), content: v.string() });
const cloudInit = v.strictObject({ write_files: v.tuple([file, file]), runcmd: v.tuple([v.array(v.string())]) });

/** Two files, and the command that is run once they are there. */
export function newMachine(url: string, sha256: string, grid: keyof typeof GRID = 'off') {
  const values: Readonly<Record<string, string>> = {
    ...FAR_SIDES,
    ...GRID[grid],
    __PACKAGE_URL__: url,
    __PACKAGE_SHA256__: sha256,
  };
  const filled = CLOUD_INIT.replaceAll(/__\w+__/g, (mark) => values[mark] ?? mark);
  const { write_files: files, runcmd } = v.parse(cloudInit, parse(filled));
  return { config: files[0], installer: files[1], command: runcmd[0] };
}
