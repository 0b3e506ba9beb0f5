// A script → the interpreter that its first line names, as the kernel reads it.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const SCRIPT_BYTES = 256;

export interface Interpreter {
  /** As written; ends with a carriage return if the file has line ends of Windows. */
  readonly path: string;
  /** The NAME of `/usr/bin/env NAME`, which is looked up in PATH. */
  readonly name: string | null;
}

/** Returns null if the file is not a script or cannot be read. */
export async function interpreterOf(program: string): Promise<Interpreter | null> {
  const [, path = '', argument = ''] = /^#![ \t]*([^ \t\n]+)[ \t]*([^ \t\n]*)/.exec((await beginningOf(program)) ?? '') ?? [];
  if (path === '') return null;
  const isName = path.endsWith('/env') && argument !== '' && !argument.startsWith('-') && !argument.includes('=');
  return { path, name: isName ? argument : null };
}

/** Returns null if the file cannot be read; a program need not be readable. */
export async function beginningOf(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SCRIPT_BYTES), 0, SCRIPT_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return null;
  }
}
