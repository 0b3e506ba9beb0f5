// A page in a browser → an assertion that axe finds nothing in it, and that nothing overflows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

export async function assertReadable(page: Page): Promise<void> {
  await page.evaluate(AXE);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(tags)} })`)) as AxeResult;
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
  assert.deepEqual(found, []);
  const [wide, window] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
    number,
    number,
  ];
  assert.ok(wide <= window, `${wide} pixels in a window of ${window}`);
}
