// A simulator, sinks, a process of `run` with the console → its page in a browser.
import { writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { type SimulatedAzure, type StartOptions, startSimulator } from '../../../src/simulator.ts';
import { openUnwatchedPage } from '../../support/browser.ts';
import type { Program } from '../../support/program.ts';
import { bridgeFolder, type Sections, startRun, urlOf } from '../../support/running-bridge.ts';

export const TOKENS = {
  orders: 'token-of-the-orders-service',
  billing: 'token-of-the-billing-service',
  grafana: 'token-of-a-grafana-here',
};
const ENV = { ORDERS_TOKEN: TOKENS.orders, BILLING_TOKEN: TOKENS.billing, GRAFANA_TOKEN: TOKENS.grafana };

/** `orders` is an admin, `billing` approves, `grafana` reads. */
export const SECTIONS: Sections = {
  http: { listen: '127.0.0.1:0', console: true, readers: { grafana: { token: { env: 'GRAFANA_TOKEN' } } } },
  approvals: {
    approvers: {
      orders: { token: { env: 'ORDERS_TOKEN' }, admin: true },
      billing: { token: { env: 'BILLING_TOKEN' } },
    },
  },
};

export interface ConsoleBridge {
  readonly azure: SimulatedAzure;
  readonly program: Program;
  readonly url: string;
  /** What the file says from now on, for a reload. */
  write(sections: Sections): void;
  /** Another process on the same store and port. */
  restart(): Promise<Program>;
}

export async function startConsole(
  t: TestContext,
  sections: Sections = {},
  options: StartOptions = {},
): Promise<ConsoleBridge> {
  const azure = await startSimulator(options);
  t.after(() => azure.close());
  return consoleOn(t, azure, azure.url, sections);
}

/** @param endpoint of one of the simulator's machines */
export async function consoleOn(
  t: TestContext,
  azure: SimulatedAzure,
  endpoint: string,
  sections: Sections = {},
): Promise<ConsoleBridge> {
  const folder = bridgeFolder(t, endpoint, { ...SECTIONS, ...sections });
  const program = await startRun(t, folder, { env: ENV });
  const url = urlOf(program);
  const write = (changed: Sections, listen = '127.0.0.1:0') => {
    const http = { ...(SECTIONS['http'] as object), listen, ...(changed['http'] as object) };
    const fixed = { version: 1, metadata: { endpoint, pollInterval: '50ms' }, store: { path: folder.store } };
    writeFileSync(folder.config, JSON.stringify({ ...fixed, ...SECTIONS, ...sections, ...changed, http }));
  };
  const restart = () => {
    write({}, new URL(url).host);
    return startRun(t, folder, { env: ENV });
  };
  return { azure, program, url, write, restart };
}

/** When it resolves, the page is live, and signed in where a token is given. */
export async function openConsole(
  t: TestContext,
  url: string,
  token?: string,
  look: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openUnwatchedPage(url, look);
  t.after(() => page.context().close());
  await page.getByText('Live', { exact: true }).waitFor();
  if (token !== undefined) await signIn(page, token);
  return page;
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

export function eventNamed(page: Page, title: string): Locator {
  return page.locator('#event-list > li').filter({ has: page.getByRole('heading', { name: title }) });
}

export function shows(page: Page, text: string | RegExp): Promise<void> {
  return page.getByText(text).first().waitFor();
}

/** What a screen reader is told. */
export function tells(page: Page, text: string | RegExp): Promise<void> {
  return page.getByRole('status').filter({ hasText: text }).waitFor();
}
