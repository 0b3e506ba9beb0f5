// The machine's disk → the same, each call told to a test, which may let it wait, fail or stop.
import { type Disk, disk } from '../../../adapters/file/disk.ts';

/** What is called of the disk (`open`, `rename`) or of an open file (`write`, `datasync`), with its arguments. */
export type Call = (name: string, args: readonly unknown[]) => void | Promise<void>;

/**
 * `before` runs before each call, which fails with what it throws. `mostBytes`: so many at once are written, as by a
 * disk that gets full.
 */
export function faultyDisk(before: Call, mostBytes = (): number => Number.POSITIVE_INFINITY): Disk {
  const open: Disk['open'] = async (...args) => {
    await before('open', args);
    const file = await disk.open(...args);
    return watched(file, async (name, given) => {
      await before(name, given);
      const [chunk, offset] = given;
      if (name !== 'write' || !Buffer.isBuffer(chunk) || typeof offset !== 'number') return given;
      return [chunk, offset, Math.min(chunk.length - offset, mostBytes())];
    });
  };
  const told = watched(disk, async (name, given) => {
    await before(name, given);
    return given;
  });
  return { ...disk, ...membersOf(told), open };
}

/** As the operating system fails. */
export function errno(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: as told by the test`), { code });
}

function membersOf(told: Disk): Disk {
  return Object.fromEntries(Object.keys(disk).map((name) => [name, Reflect.get(told, name)])) as Disk;
}

function watched<T extends object>(
  target: T,
  before: (name: string, args: readonly unknown[]) => Promise<readonly unknown[]>,
): T {
  return new Proxy(target, {
    get: (object, name) => {
      const member: unknown = Reflect.get(object, name);
      if (typeof member !== 'function') return member;
      return async (...args: readonly unknown[]) => member.apply(object, await before(String(name), args));
    },
  });
}
