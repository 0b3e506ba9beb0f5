// The fences of a page → typed into terminals as their words say; the output is what it shows.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { Terminal } from '../support/terminal.ts';
import type { CodeBlock } from './markdown-page.ts';
import { PagePorts } from './page-ports.ts';

const ROOT = join(import.meta.dirname, '../..');
const PATIENCE_MS = 60_000;
/** The reader types in it what no terminal is named for. */
const SHELL = '';

/** Where the bridge of a page listens. */
const LISTEN = 'http: { listen: 127.0.0.1:8700 }\n';

/** What is done with a fence: exactly one of these is among its words. */
export const ACTIONS = ['run', 'start', 'poll', 'prints', 'not-played'] as const;
export type Action = (typeof ACTIONS)[number];

/** What else the words of a fence can say. */
export const DETAILS = ['ready', 'with', 'needs'] as const;

/** @throws if the fence says nothing or too much */
export function actionOf({ words, text }: CodeBlock): Action {
  const [action, ...others] = ACTIONS.filter((each) => words.has(each));
  assert.ok(action && others.length === 0, `one of ${ACTIONS.join(', ')} belongs to the fence of ${text}`);
  return action;
}

/** One reader of a page: a folder like a checkout, free ports, and terminals. */
export class PlayedPage {
  readonly folder: string;
  readonly #t: TestContext;
  readonly #ports: PagePorts;
  readonly #names: [name: string | RegExp, value: string][] = [];
  readonly #terminals = new Map<string, Terminal>();
  /** By the last fence that was typed and ended. */
  #printed = '';

  constructor(t: TestContext) {
    this.#t = t;
    this.#ports = new PagePorts();
    this.folder = folderOf(t);
    for (const name of ['dist', 'node_modules', 'deploy']) symlinkSync(join(ROOT, name), join(this.folder, name));
    // `npx scheduled-events-bridge …` and `npx node …` of a checkout.
    this.program(
      'npx',
      `command=$1; shift\n[ "$command" = node ] || set -- dist/main.js "$@"\nexec '${process.execPath}' "$@"`,
    );
  }

  /** Puts a program on the path of all terminals. */
  program(name: string, script: string): void {
    writeFileSync(join(this.folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /** From now on the page's name stands for that. */
  means(name: string | RegExp, value: string): void {
    this.#names.push([name, value]);
  }

  /** Plays the fences in turn. */
  async play(fences: readonly CodeBlock[]): Promise<void> {
    for (const text of [LISTEN, ...fences.map((fence) => fence.text)]) await this.#ports.claim(text);
    for (const [index, fence] of fences.entries()) await this.#playOne(fence, fences[index + 1]);
  }

  async #playOne(fence: CodeBlock, next: CodeBlock | undefined): Promise<void> {
    const action = actionOf(fence);
    if (action === 'start') await this.#start(fence);
    if (action === 'run') this.#printed = await this.#terminal(SHELL).type(this.#here(fence.text));
    if (action === 'poll') await this.#poll(fence, next);
    if (action === 'prints') await this.#compare(fence);
  }

  /** What a fence starts goes on. Waits for the port that its `ready` names. */
  async #start({ text, words }: CodeBlock): Promise<void> {
    const terminal = this.#terminal(words.get('start') ?? '');
    terminal.start(this.#here(text));
    const port = words.get('ready');
    if (port !== undefined) await this.#ports.accepts(port, () => terminal.stderr);
  }

  /** Types a fence that only reads, again and again, until it prints what the next one shows. */
  async #poll({ text }: CodeBlock, shown: CodeBlock | undefined): Promise<void> {
    assert.ok(shown?.words.get('prints') === '', `no fence shows what is printed by ${text}`);
    const isShown = async () => {
      this.#printed = await this.#terminal(SHELL).type(this.#here(text), { mayFail: true });
      return fault(this.#here(shown.text), shown.language, this.#printed) === null;
    };
    // The fence that shows it reports the difference.
    await poll(isShown, text, PATIENCE_MS).catch(() => {});
  }

  /** The last output, or the next lines of the terminal that `prints` names. */
  async #compare({ text, language, words }: CodeBlock): Promise<void> {
    const name = words.get('prints') ?? '';
    const shown = this.#here(text);
    const printed =
      name === SHELL ? this.#printed : await this.#terminal(name).lines(shown.trimEnd().split('\n').length);
    const found = fault(shown, language, printed);
    if (found !== null) throw found;
  }

  #terminal(name: string): Terminal {
    const terminal = this.#terminals.get(name) ?? new Terminal(this.#t, this.folder);
    this.#terminals.set(name, terminal);
    return terminal;
  }

  /** The page's names and ports replaced by those of this test. */
  #here(text: string): string {
    const named = this.#names.reduce((changed, [name, value]) => changed.replaceAll(name, value), text);
    // Without `http`, the bridge would listen on its default port.
    const whole = /^http:/m.test(named) ? named : named.replace('version: 1\n', `version: 1\n${LISTEN}`);
    return this.#ports.here(whole);
  }
}

/** Null if the lines are those that the page shows; `…` stands for any text. JSON needs the same members and values. */
function fault(shown: string, language: string, printed: string): Error | null {
  try {
    if (language === 'json') assert.deepEqual(JSON.parse(alike(printed)), JSON.parse(alike(shown)));
    else assert.match(alike(printed.trimEnd()), shapeOf(alike(shown.trimEnd())));
    return null;
  } catch (error) {
    return error as Error;
  }
}

/** The same for two runs: without generated ids and times. */
function alike(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '<EventId>')
    .replaceAll(/(?<=:)[0-9a-f]{16}\b/g, '<hash>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>')
    .replaceAll(/(?<="notStartedForSeconds":\s?)\d+/g, '"<seconds>"');
}

/** `…` does not match a line feed. */
function shapeOf(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*')}$`);
}
