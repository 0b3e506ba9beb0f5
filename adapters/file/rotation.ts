// NAME and the number of files to keep → NAME.1, NAME.2 …; a crash loses no file.
import { basename, dirname } from 'node:path';
import type { Disk } from './disk.ts';
import { MOST_KEPT } from './file-options.ts';

const NUMBER = /^[1-9]\d{0,3}$/;

/**
 * Renames each older file to the next number, up to the first free number. An interrupted rotation therefore continues,
 * and files that it had moved do not move again. The oldest file is deleted only if no number up to `keep` is free.
 * @param file the real path, not that of a link
 */
export async function rotateFile(file: string, keep: number, disk: Disk): Promise<void> {
  const taken = await numbersBehind(file, disk);
  const last = numbersUpTo(keep).find((number) => !taken.has(number)) ?? keep;
  for (let number = last; number > 1; number--) await move(`${file}.${number - 1}`, `${file}.${number}`, disk);
  await move(file, `${file}.1`, disk);
  for (const number of taken) if (number > keep) await disk.unlink(`${file}.${number}`);
}

/**
 * The old name is given to another file next. A disk may keep that change and lose this one, so this one is flushed
 * first: a file would have no name after a power cut otherwise.
 */
async function move(from: string, to: string, disk: Disk): Promise<void> {
  await disk.rename(from, to);
  await flushFolder(to, disk);
}

async function numbersBehind(file: string, disk: Disk): Promise<ReadonlySet<number>> {
  const beginning = `${basename(file)}.`;
  const names = (await disk.readdir(dirname(file), { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  const ends = names.filter((name) => name.startsWith(beginning)).map((name) => name.slice(beginning.length));
  return new Set(ends.filter((end) => NUMBER.test(end) && Number(end) <= MOST_KEPT).map(Number));
}

function numbersUpTo(most: number): number[] {
  return Array.from({ length: most }, (_, index) => index + 1);
}

/** Makes the names in the file's folder durable, which flushing the file itself does not. */
export async function flushFolder(file: string, disk: Disk): Promise<void> {
  // Windows keeps names by itself, and flushes no folder (EPERM).
  if (process.platform === 'win32') return;
  const folder = await disk.open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
