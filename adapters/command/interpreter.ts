// A script → the interpreter that its first line names, as the kernel reads it.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const SCRIPT_BYTES = 256;

export interface Interpreter {
  /** As it is written: with a carriage return at its end where the lines end as those of Windows. */
  readonly path: string;
  /** Of `/usr/bin/env NAME`: what is looked up in PATH. */
  readonly name: string | null;
}

/** Null if the file is no script, or cannot be read. */
export async function interpreterOf(program: string): Promise<Interpreter | null> {
  const [, path = '', argument = ''] = /^#![ \t]*([^ \t\n]+)[ \t]*([^ \t\n]*)/.exec((await beginningOf(program)) ?? '') ?? [];
  if (path === '') return null;
  const isName = path.endsWith('/env') && argument !== '' && !argument.startsWith('-') && !argument.includes('=');
  return { path, name: isName ? argument : null };
}

/** Null where it cannot be read, which a program need not be. */
export async function beginningOf(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SCRIPT_BYTES), 0, SCRIPT_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return null;
  }
}
