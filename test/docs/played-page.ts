// A page of docs/ → its blocks typed into shells in turn, what they print held against the page.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { Terminal } from '../support/terminal.ts';
import { type CodeBlock, codeBlocksOf } from './markdown-page.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Each method takes the block that is next on the page. */
export class PlayedPage {
  readonly #t: TestContext;
  readonly #folder: string;
  readonly #blocks: CodeBlock[];
  readonly #names = new Map<string | RegExp, string>();

  private constructor(t: TestContext, path: string, folder: string) {
    this.#t = t;
    this.#folder = folder;
    this.#blocks = [...codeBlocksOf(path)];
    for (const name of ['dist', 'node_modules']) symlinkSync(join(ROOT, name), join(folder, name));
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' dist/main.js "$@"\n`, { mode: 0o755 });
  }

  /** `path` starts at the repository's root. The page's ports 808N and 870N stand for free ones; `folder` becomes the checkout. */
  static async open(t: TestContext, path: string, folder = folderOf(t)): Promise<PlayedPage> {
    const page = new PlayedPage(t, path, folder);
    const first = await freeTens();
    page.means('127.0.0.1:808', `127.0.0.1:${first}`);
    page.means('127.0.0.1:870', `127.0.0.1:${first + 1}`);
    return page;
  }

  /** From now on the page's name stands for that. */
  means(name: string | RegExp, value: string): void {
    this.#names.set(name, value);
  }

  here(text: string): string {
    return [...this.#names].reduce((changed, [name, value]) => changed.replaceAll(name, value), text);
  }

  terminal(): Terminal {
    return new Terminal(this.#t, this.#folder);
  }

  /** Takes a block in `sh` and types it in a terminal of its own, where it goes on. */
  starts(): Terminal {
    const terminal = this.terminal();
    terminal.start(this.here(this.#next('sh')));
    return terminal;
  }

  /** Takes a block in `sh`. @returns what it printed */
  async types(terminal: Terminal): Promise<string> {
    return await terminal.type(this.here(this.#next('sh')));
  }

  /** As most pages begin: the configuration, then a simulator and a bridge in terminals of their own, and one for everything else. */
  async withBridge(): Promise<{ readonly bridge: ReturnType<PlayedPage['starts']>; readonly shell: ReturnType<PlayedPage['terminal']> }> {
    this.passes('yaml');
    await this.shows(this.starts());
    return { bridge: this.starts(), shell: this.terminal() };
  }

  /** Takes a block in `json`: the same members and values, but for ids and times. */
  answers(printed: string): void {
    const shown = this.#next('json');
    assert.deepEqual(JSON.parse(alike(printed)), JSON.parse(alike(this.here(shown))));
  }

  /** Takes a block in `sh` that only looks, and types it until it answers the block in `json` behind it. */
  async comesToAnswer(terminal: Terminal): Promise<void> {
    const asked = this.here(this.#next('sh'));
    const shown = JSON.stringify(JSON.parse(alike(this.here(this.#blocks[0]?.text ?? ''))));
    let printed = '';
    const isShown = async () => {
      printed = await terminal.type(asked);
      return compact(alike(printed)) === shown;
    };
    // What differs is told below.
    await poll(isShown, 'the answer of the page').catch(() => {});
    this.answers(printed);
  }

  /** Takes a block in `text`: line by line what was printed, where `…` stands for anything. */
  prints(printed: string): void {
    const shown = this.#next('text').trimEnd().split('\n');
    const lines = printed.trimEnd().split('\n');
    for (const [index, line] of shown.entries()) assert.match(alike(lines[index] ?? ''), shapeOf(alike(this.here(line))));
    assert.equal(lines.length, shown.length, printed);
  }

  /** Takes a block in `sh` that only looks at what others write, and types it until it prints the block in `text` behind it. */
  async comesToPrint(terminal: Terminal): Promise<void> {
    const asked = this.here(this.#next('sh'));
    const shown = this.here(this.#blocks[0]?.text ?? '')
      .trimEnd()
      .split('\n');
    let printed = '';
    const isShown = async () => {
      printed = await terminal.type(asked);
      const lines = printed.trimEnd().split('\n');
      return lines.length === shown.length && shown.every((line, index) => shapeOf(alike(line)).test(alike(lines[index] ?? '')));
    };
    // What differs is told below.
    await poll(isShown, 'the lines of the page').catch(() => {});
    this.prints(printed);
  }

  /** The same of the next lines of a terminal, once they are there. */
  async shows(terminal: Terminal): Promise<void> {
    const count = this.#blocks[0]?.text.trimEnd().split('\n').length ?? 0;
    this.prints((await terminal.lines(count)).join('\n'));
  }

  /** Takes a block that is not played. */
  passes(language: string): void {
    this.#next(language);
  }

  /** @throws where a block is left */
  isThrough(): void {
    assert.deepEqual(this.#blocks, []);
  }

  #next(language: string): string {
    const block = this.#blocks.shift();
    assert.equal(block?.language, language, `the next block is ${JSON.stringify(block)}`);
    return block?.text ?? '';
  }
}

/** Two whole tens of ports, in which the last figure is that of the page; below those that the system gives away, so that what is killed finds its own again. */
async function freeTens(): Promise<number> {
  for (let first = 1000 + (process.pid % 1000) * 2; ; first += 2) {
    const ports = Array.from({ length: 20 }, (_, index) => first * 10 + index);
    const isFree = await Promise.all(ports.map(isFreePort));
    if (!isFree.includes(false)) return first;
  }
}

async function isFreePort(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (listens) await once(server.close(), 'close');
  return listens;
}

/** JSON without white space; anything else, such as nothing, as it is. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The same for two runs: without what they made up, and the times. */
function alike(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '<EventId>')
    .replaceAll(/(?<=:)[0-9a-f]{16}\b/g, '<hash>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/(?<="notStartedForSeconds":\s?)\d+/g, '"<seconds>"');
}

function shapeOf(line: string): RegExp {
  return new RegExp(`^${line.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*')}$`);
}
