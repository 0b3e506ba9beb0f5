// package.json's homepage → the links of the alert rules to their pages.
// Usage: node deploy/monitoring/runbooks.ts, after a fork or a move; a test compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };

const FILES = ['rules.yaml', 'rules.test.yaml', '../helm/scheduled-events-bridge/rules.yaml'];

for (const name of FILES) {
  const path = join(import.meta.dirname, name);
  const rules = readFileSync(path, 'utf8');
  writeFileSync(path, rules.replaceAll(/https:\/\/[^'\s]+(?=\/blob\/main\/docs\/)/g, packageJson.homepage));
}
