// A test → an event log in a folder, with a helper that writes to it and misbehaves on command.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { EventLogEntry } from '../../../adapters/windows-event-log/event-log-entry.ts';
import { folderOf } from '../../support/folder.ts';

interface WrittenEntry extends EventLogEntry {
  readonly source: string;
}

export class EventLogFarSide {
  /** Starts the helper. */
  readonly command: readonly [string, ...string[]];
  readonly #folder: string;

  constructor(t: TestContext) {
    this.#folder = folderOf(t);
    this.command = [process.execPath, join(import.meta.dirname, 'helper.ts'), this.#folder];
  }

  behave(mode: 'accept' | 'hang' | 'end' | 'babble' | number): void {
    writeFileSync(join(this.#folder, 'mode'), String(mode));
  }

  entries(): readonly WrittenEntry[] {
    return this.#lines('entries').map((line) => JSON.parse(line) as WrittenEntry);
  }

  /** The process ids of all helpers so far. */
  starts(): readonly number[] {
    return this.#lines('starts').map(Number);
  }

  isStuck(): boolean {
    return existsSync(join(this.#folder, 'stuck'));
  }

  #lines(name: string): readonly string[] {
    const file = join(this.#folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }
}
