// NAME, how many older ones stay → NAME.1, NAME.2 …; a crash between two renames loses none.
import { basename, dirname } from 'node:path';
import type { Disk } from './disk.ts';
import { MOST_KEPT } from './file-options.ts';

const NUMBER = /^[1-9]\d{0,3}$/;

/**
 * Moves each older file up by one, as far as the first number that is free, so that a rotation that was cut off is gone on with and
 * what it had moved is not moved again. Only where no number up to `keep` is free, the oldest goes.
 * @param file its own path, not that of a link to it
 */
export async function rotateFile(file: string, keep: number, disk: Disk): Promise<void> {
  const taken = await numbersBehind(file, disk);
  const last = numbersUpTo(keep).find((number) => !taken.has(number)) ?? keep;
  for (let number = last; number > 1; number--) await disk.rename(`${file}.${number - 1}`, `${file}.${number}`);
  await disk.rename(file, `${file}.1`);
  for (const number of taken) if (number > keep) await disk.unlink(`${file}.${number}`);
}

async function numbersBehind(file: string, disk: Disk): Promise<ReadonlySet<number>> {
  const beginning = `${basename(file)}.`;
  const names = (await disk.readdir(dirname(file), { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
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
