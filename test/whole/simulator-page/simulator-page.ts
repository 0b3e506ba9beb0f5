// A simulator whose clock stands at 14:00:00 → its page in a browser, and helpers for its tests.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { type SimulatorServer, type SimulatorServerOptions, startSimulator } from '../../../src/simulator/server.ts';
import { openPage, withoutBrowser } from '../../support/browser.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

export const START_MS = Date.UTC(2026, 10, 21, 14);

/** The options of a test that needs a browser. */
export const inBrowser = { skip: withoutBrowser };

/** Its clock moves only when a test advances it. */
export async function startStanding(
  t: TestContext,
  options: Partial<SimulatorServerOptions> = {},
): Promise<SimulatorServer> {
  const server = await standing(options);
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

function standing(options: Partial<SimulatorServerOptions>): Promise<SimulatorServer> {
  return startSimulator({
    listen: { host: '127.0.0.1', port: 0 },
    deps: new VirtualTime({ startMs: START_MS }),
    ...options,
  });
}

export interface Opened {
  readonly server: SimulatorServer;
  readonly page: Page;
}

/** Opens the page; resolves when it shows the simulator's state. */
export async function open(
  t: TestContext,
  options: Partial<SimulatorServerOptions> = {},
  look: BrowserContextOptions = {},
): Promise<Opened> {
  const server = await standing(options);
  try {
    const page = await openPage(t, server.url, look);
    await shows(page, 'incarnation');
    return { server, page };
  } finally {
    // After the page, which would otherwise report that the simulator does not answer.
    t.after(() => server[Symbol.asyncDispose]());
  }
}

/** Sends a control request. @returns its answer, or an empty object if it has no body */
export async function send(
  server: SimulatorServer,
  method: string,
  path: string,
  body: object = {},
): Promise<Record<string, unknown>> {
  const answer = await fetch(server.url + path, { method, body: method === 'GET' ? null : JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return text === '' ? {} : JSON.parse(text);
}

/** Schedules an event. @returns its EventId */
export async function schedule(server: SimulatorServer, fields: object): Promise<string> {
  return String((await send(server, 'POST', '/simulator/events', fields))['EventId']);
}

export function eventNamed(page: Page, title: string): Locator {
  return page.locator('#event-list > li').filter({ has: page.getByRole('heading', { name: title }) });
}

export function shows(page: Page, text: string | RegExp): Promise<void> {
  return page.getByText(text).first().waitFor();
}

/** Waits for a text in the status line, which screen readers announce. */
export function announces(page: Page, text: string): Promise<void> {
  return page.getByRole('status').filter({ hasText: text }).waitFor();
}

export function focused(page: Page): Promise<string> {
  return page.locator(':focus').innerText();
}
