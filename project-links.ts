// package.json's homepage → the links to the project in alert rules and console.
// Usage: node project-links.ts, after a fork or a move; a test compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import packageJson from './package.json' with { type: 'json' };

export const LINKED_FILES = [
  'deploy/monitoring/rules.yaml',
  'deploy/monitoring/rules-days.test.yaml',
  'deploy/monitoring/rules.test.yaml',
  'deploy/helm/scheduled-events-bridge/rules.yaml',
  'src/http/console/index.html',
];

if (import.meta.main)
  for (const path of LINKED_FILES) {
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll(/https:\/\/[^'"\s]+(?=\/blob\/main\/docs\/)/g, packageJson.homepage));
  }
