// Options, shell scripts → a command adapter in a folder of its own, and what it logged.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { DeliveryNotes, Outcome } from '../../../adapters/adapter.ts';
import { commandSink } from '../../../adapters/command/command.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { adapterDeps, deliveryNotes } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

export const never = new AbortController().signal;

/** A folder, and programs in it. */
export class Scripts {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = folderOf(t);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** An executable script; its first line is `#!` and `interpreter`. */
  write(name: string, body: string, { interpreter = '/bin/sh', mode = 0o755 } = {}): string {
    const path = this.path(name);
    writeFileSync(path, `#!${interpreter}\n${body}\n`);
    chmodSync(path, mode);
    return path;
  }

  /** What a script wrote into a file of the folder, its working directory; null where it has not. */
  read(name: string): string | null {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8') : null;
  }

  remove(name: string): void {
    rmSync(this.path(name));
  }

  /** Waits for a line of that file. */
  async line(name: string): Promise<string> {
    await poll(() => this.read(name)?.includes('\n') ?? false, `a line in ${name}`);
    return (this.read(name) ?? '').trim();
  }
}

export interface Sink {
  readonly notes?: DeliveryNotes;
  readonly time?: Deps;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** The values of other secrets of the configuration. */
  readonly configured?: readonly string[];
}

/** An adapter as a lane has it, closed with the test. Programs run in the folder of the scripts. */
export function startCommand(
  t: TestContext,
  scripts: Scripts,
  options: Readonly<Record<string, unknown>>,
  sink: Sink = {},
) {
  const { notes = deliveryNotes(), time, env = { PATH: process.env['PATH'] }, secrets = {}, configured = [] } = sink;
  const deps = adapterDeps({ notes, env, secrets: configured, directory: scripts.folder, ...(time ? { time } : {}) });
  const parsed = v.parse(commandSink.options, { directory: '.', ...options });
  openSecrets(parsed, secrets);
  const bare = commandSink.create(parsed, deps);
  const adapter = manageAdapter(bare, deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  const deliver = async (
    delivery: Delivery = sampleDelivery(),
    signal = never,
    superseded?: AbortSignal,
  ): Promise<Outcome> => {
    const [outcome] = await bare.deliver([delivery], signal, superseded).catch((error: unknown) => {
      if (error instanceof BridgeError) return [error];
      throw error;
    });
    assert.ok(outcome);
    return outcome;
  };
  const logged = (): readonly Record<string, unknown>[] =>
    deps
      .logged()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  /** Lines of the program's output, once they are there. */
  const said = async (least = 1): Promise<readonly Record<string, unknown>[]> => {
    const lines = () => logged().filter(({ line }) => line !== undefined);
    await poll(() => lines().length >= least, 'the output in the log');
    return lines();
  };
  return { adapter, bare, deps, deliver, logged, said };
}

/** A delivery whose CloudEvent has these members more. */
export function eventDelivery(
  change: string,
  data: Readonly<Record<string, unknown>>,
  attributes: Readonly<Record<string, unknown>> = {},
): Delivery {
  const sample = sampleDelivery();
  const event = JSON.parse(Buffer.from(sample.bytes).toString());
  const bytes = Buffer.from(JSON.stringify({ ...event, ...attributes, data: { ...event.data, ...data } }));
  return { ...sample, change, bytes };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
