// Nothing → a pipe that is full and that nobody reads, to be a process's standard output or error.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from './folder.ts';

/** A file descriptor for `stdio`; closed behind the test. */
export function fullPipe(t: TestContext): number {
  const file = join(folderOf(t), 'pipe');
  execFileSync('mkfifo', [file]);
  const descriptor = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(descriptor));
  // First by pages, then to the last byte.
  for (const size of [4096, 1]) fill(descriptor, Buffer.alloc(size, '\n'));
  return descriptor;
}

function fill(descriptor: number, chunk: Buffer): void {
  try {
    for (;;) writeSync(descriptor, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
}
