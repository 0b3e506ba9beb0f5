// A real Firefox by WebDriver BiDi on a WebSocket → pages for tests that name REQUIRE_FIREFOX.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { poll } from './poll.ts';

interface Answer {
  readonly id?: number;
  readonly type: string;
  readonly message?: string;
  readonly result?: Readonly<Record<string, unknown>>;
}

/** A tab. It evaluates scripts, as the test says; what a user does goes through real keys. */
export interface FirefoxPage {
  evaluate(expression: string): Promise<unknown>;
  /** Resolves once the expression is true. */
  until(expression: string): Promise<void>;
  /** With the pointer: a Firefox without a window has no focus, in which keys press buttons. */
  click(selector: string): Promise<void>;
  /** Each character is a key; `\uE007` is Enter. */
  type(text: string): Promise<void>;
}

/** Without a window, with a profile of its own, until the end of the test. */
export async function openFirefox(t: TestContext, url: string): Promise<FirefoxPage> {
  // Removed behind Firefox, which writes into it until it has ended.
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const child = spawn(process.env['FIREFOX'] ?? 'firefox-esr', args, {
    env: { ...process.env, HOME: profile },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  let errors = '';
  child.stderr.on('data', (bytes) => {
    errors += bytes;
  });
  const address = () => /WebDriver BiDi listening on (ws:\S+)/.exec(errors)?.[1];
  await poll(() => address() !== undefined, 'Firefox listens');
  const socket = new WebSocket(`${address()}/session`);
  await once(socket, 'open');
  const send = commands(socket);
  await send('session.new', { capabilities: {} });
  const { contexts } = (await send('browsingContext.getTree', {})) as { contexts: readonly { context: string }[] };
  const context = contexts[0]?.context;
  await send('browsingContext.navigate', { context, url, wait: 'complete' });
  const evaluate = async (expression: string) => {
    const { result } = (await send('script.evaluate', { expression, target: { context }, awaitPromise: true })) as {
      result: { value?: unknown };
    };
    return result.value;
  };
  return {
    evaluate,
    until: (expression) => poll(async () => (await evaluate(`Boolean(${expression})`)) === true, expression),
    async click(selector) {
      const found = `document.querySelector(${JSON.stringify(selector)})`;
      const at = `(() => { ${found}.scrollIntoView({ block: 'center' }); const box = ${found}.getBoundingClientRect();
        return Math.round(box.x + box.width / 2) + ' ' + Math.round(box.y + box.height / 2); })()`;
      const [x = 0, y = 0] = String(await evaluate(at))
        .split(' ')
        .map(Number);
      const press = [
        { type: 'pointerMove', x, y },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      await send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', actions: press }] });
    },
    async type(text) {
      const keys = [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await send('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions: keys }] });
    },
  };
}

function commands(socket: WebSocket) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  socket.on('message', (bytes) => {
    const { id = 0, type, message, result }: Answer = JSON.parse(String(bytes));
    if (type === 'error') waiting.get(id)?.reject(new Error(message));
    else waiting.get(id)?.resolve(result);
  });
  return (method: string, params: object): Promise<unknown> => {
    const answer = Promise.withResolvers<unknown>();
    last += 1;
    waiting.set(last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    return answer.promise;
  };
}
