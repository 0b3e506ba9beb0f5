// A page of docs/operate/recipes/ → its program and bridge on a machine of the test's own.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type SimulatedAzure, startSimulator } from '../../src/simulator.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { startRun, urlOf } from '../support/running-bridge.ts';
import { type CodeBlock, codeBlocksOf } from './markdown-page.ts';

/** What the page has, and what a test has in its place. */
type Replacements = Readonly<Record<string, string>>;

interface Step {
  readonly step: string;
  readonly approver: string | null;
  readonly via: string | null;
  readonly reason: string | null;
}

/** One VM, with the page's program in a folder and its bridge on the simulator. */
export class Recipe {
  readonly folder: string;
  readonly azure: SimulatedAzure;
  readonly #t: TestContext;
  readonly #blocks: readonly CodeBlock[];
  readonly #config: string;
  readonly #bridges: Program[] = [];

  private constructor(t: TestContext, page: string, azure: SimulatedAzure, replaced: Replacements) {
    this.folder = folderOf(t);
    this.azure = azure;
    this.#t = t;
    this.#blocks = codeBlocksOf(`docs/operate/recipes/${page}.md`);
    this.#config = join(this.folder, 'bridge.yaml');
    const ours = {
      '/usr/local/bin': this.folder,
      '127.0.0.1:8700': '127.0.0.1:0',
      'http://127.0.0.1:8080': `${azure.url}\n  pollInterval: 50ms`,
    };
    writeFileSync(this.#config, this.block('yaml', { ...replaced, ...ours }));
    for (const { language, text } of this.#blocks) {
      const [, name] = /^#!\/bin\/sh\n# ([\w-]+)\n/.exec(text) ?? [];
      if (language !== 'sh' || name === undefined) continue;
      writeFileSync(join(this.folder, name), text);
      chmodSync(join(this.folder, name), 0o755);
    }
  }

  /** @param page its name, without `.md` */
  static async on(t: TestContext, page: string, replaced: Replacements = {}): Promise<Recipe> {
    const azure = await startSimulator({ vms: ['web_0'] });
    t.after(() => azure.close());
    return new Recipe(t, page, azure, replaced);
  }

  /** The page's block in this language. */
  block(language: string, replaced: Replacements = {}): string {
    const found = this.#blocks.find((block) => block.language === language);
    assert.ok(found, `a block of ${language}`);
    return Object.entries(replaced).reduce((text, [from, to]) => {
      assert.ok(text.includes(from), `the page says ${from}`);
      return text.replaceAll(from, to);
    }, found.text);
  }

  /** Starts the bridge, or starts it anew. */
  async bridge(): Promise<Program> {
    const bridge = await startRun(this.#t, { config: this.#config, store: '' }, { cwd: this.folder });
    this.#bridges.push(bridge);
    return bridge;
  }

  /** What the page says that its program prints. */
  get promised(): readonly string[] {
    return this.block('text').trim().split('\n');
  }

  /** All that the program has said so far, under all bridges. */
  said(): readonly string[] {
    return this.#bridges.flatMap(({ stderr }) => {
      const logged = stderr.split('\n').filter((line) => line.includes('"the program said"'));
      return logged.map((line) => (JSON.parse(line) as { readonly line: string }).line);
    });
  }

  async says(line: string | RegExp): Promise<void> {
    const fits = (each: string) => (typeof line === 'string' ? each === line : line.test(each));
    const logs = () => this.#bridges.map(({ stderr }) => stderr).join('');
    await poll(
      () => this.said().some(fits),
      () => `"${line}": ${logs()}`,
    );
  }

  /** The record of the event, line by line; empty while the bridge has not seen the event. */
  async record(eventId: string): Promise<readonly string[]> {
    const url = urlOf(this.#bridges.at(-1) as Program);
    const answer = await fetch(`${url}/v1/approvals/${eventId}`);
    const { steps = [] } = (await answer.json()) as { readonly steps?: readonly Step[] };
    return steps.map(({ step, approver, via, reason }) =>
      [step, approver, via, reason].filter((part) => part !== null).join(' '),
    );
  }

  /** Resolves once it has been approved and the bridge has seen it started. */
  async approved(eventId: string): Promise<void> {
    await poll(async () => (await this.record(eventId)).includes('confirmed'), `the approval of ${eventId}`);
  }
}

/** What a bridge that drained, was approved by its sink alone, and saw the start, has recorded. */
export function wholeRecord(approver: string, sink: string): readonly string[] {
  return [
    `held ${approver} sink:${sink} sink ${sink} prepares`,
    `recorded ${approver} sink:${sink}`,
    `released ${approver} sink:${sink} ${approver}`,
    'decided quorum',
    'submitted',
    'confirmed',
  ];
}
