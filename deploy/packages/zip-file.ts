// A folder → a .zip of its files, sorted by name: the same bytes for the same files.
import { glob, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];
/** PKZIP 2.0 supports deflate; these files have no encryption and only ASCII names. */
const VERSION = 20;
const DEFLATE = 8;

interface Entry {
  readonly name: Buffer;
  readonly crc: number;
  readonly size: number;
  readonly packed: Buffer;
}

/** @param at the time of every file, in UTC; a .zip has steps of 2 s, from 1980 on */
export async function zipOf(folder: string, at: Date): Promise<Buffer> {
  const [locals, centrals]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const path of await filesIn(folder)) {
    const content = await readFile(join(folder, path));
    const packed = deflateRawSync(content, { level: 9 });
    const entry = { name: Buffer.from(path, 'ascii'), crc: crc32(content), size: content.length, packed };
    const local = Buffer.concat([fields(4, LOCAL), common(entry, at), entry.name, packed]);
    const outside = Buffer.alloc(10);
    centrals.push(
      Buffer.concat([
        fields(4, CENTRAL),
        fields(2, VERSION),
        common(entry, at),
        outside,
        fields(4, offset),
        entry.name,
      ]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const counts = fields(2, 0, 0, centrals.length, centrals.length);
  return Buffer.concat([
    ...locals,
    directory,
    fields(4, END),
    counts,
    fields(4, directory.length, offset),
    fields(2, 0),
  ]);
}

/** Returns paths with `/` between folders, as in a .zip. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const entry of glob('**/*', { cwd: folder, withFileTypes: true }))
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name).slice(folder.length + 1));
  return paths.map((path) => path.split(sep).join('/')).sort();
}

/** Returns the fields that a file's header and its directory entry share. */
function common({ name, crc, size, packed }: Entry, at: Date): Buffer {
  return Buffer.concat([
    fields(2, VERSION, 0, DEFLATE, ...dosTime(at)),
    fields(4, crc, packed.length, size),
    fields(2, name.length, 0),
  ]);
}

function dosTime(at: Date): readonly [time: number, date: number] {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return [time, ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()];
}

/** Encodes numbers with the given sizes in bytes, little endian. */
function fields(bytes: 2 | 4, ...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(bytes * values.length);
  for (const [index, value] of values.entries()) buffer.writeUIntLE(value, index * bytes, bytes);
  return buffer;
}
