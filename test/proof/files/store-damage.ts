// A seed → a small store with damaged pages and log, and what starts on it do.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BridgeError } from '../../../src/errors.ts';
import { SECOND } from '../../virtual/virtual-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { BEGIN_MS } from './maintenances.ts';
import { inFolder } from './recording.ts';
import { expectNothingNew, expectSame, interrupt, resume, STORE } from './store-judge.ts';

/** Three events are open and one has ended; a sink has not answered yet. */
const DAMAGED_AT_MS = BEGIN_MS + 26 * SECOND;
const [PAGE, LOG_HEADER, FRAME] = [4096, 32, 24 + 4096];

interface Damaged {
  readonly refused: number;
  /** Starts after which everything came as without damage. */
  readonly whole: number;
}

interface DamageOptions {
  readonly seed: number;
  /** Bits for each page or frame. */
  readonly bits: number;
  /** Of the log: one frame of so many. Default: 1, each. */
  readonly oneOf?: number;
}

/** Flips bits in each page of the file. @throws if a start neither refuses nor loses nothing */
export function flipPages({ seed, bits }: DamageOptions): Promise<Damaged> {
  const { random } = new VirtualTime({ seed });
  return damage('stop', 'outbox.db', expectSame, (bytes) =>
    Array.from({ length: (bytes.length / PAGE) * bits }, (_, number) => {
      const at = Math.floor(number / bits) * PAGE + Math.floor(random() * PAGE);
      return [`bit in byte ${at}`, flipped(bytes, at, random)] as const;
    }),
  );
}

/**
 * Cuts the log at each frame and within it, and flips bits of each. Nobody can see that flushed commits are missing at
 * the end, so a start may continue from an earlier commit. It must not invent anything.
 * @throws if a start fails with another error than one of the store, or something is invented
 */
export function damageLog({ seed, bits, oneOf = 1 }: DamageOptions): Promise<Damaged> {
  const { random } = new VirtualTime({ seed });
  return damage('kill', 'outbox.db-wal', expectNothingNew, (bytes) => {
    const frames = Math.floor((bytes.length - LOG_HEADER) / FRAME / oneOf);
    return Array.from({ length: frames }, (_, index) => {
      const number = index * oneOf + Math.floor(random() * oneOf);
      const begin = LOG_HEADER + number * FRAME;
      const within = begin + 1 + Math.floor(random() * (FRAME - 1));
      const flips = Array.from({ length: bits }, () => begin + Math.floor(random() * FRAME));
      return [
        [`cut at frame ${number}`, bytes.subarray(0, begin)] as const,
        [`cut in frame ${number}`, bytes.subarray(0, within)] as const,
        ...flips.map((at) => [`bit in byte ${at} of the log`, flipped(bytes, at, random)] as const),
      ];
    }).flat();
  });
}

function flipped(bytes: Buffer, at: number, random: () => number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at);
  return copy;
}

type Judge = (said: readonly string[], usual: readonly string[]) => void;

function damage(
  how: 'stop' | 'kill',
  file: string,
  judge: Judge,
  damages: (bytes: Buffer) => readonly (readonly [string, Buffer])[],
): Promise<Damaged> {
  return inFolder(async (root) => {
    const [usual, sound, one] = ['usual', 'sound', 'one'].map((name) => join(root, name)) as [string, string, string];
    for (const folder of [usual, sound]) mkdirSync(join(folder, STORE, '..'), { recursive: true });
    const all = await resume(usual, []);
    const said = await interrupt(sound, DAMAGED_AT_MS, how);
    const count = { refused: 0, whole: 0 };
    for (const [what, bytes] of damages(readFileSync(join(sound, STORE, file)))) {
      rmSync(one, { recursive: true, force: true });
      cpSync(sound, one, { recursive: true });
      writeFileSync(join(one, STORE, file), bytes);
      const [seen, fault] = await resume(one, said).then(
        (words) => [words, null] as const,
        (error) => [[], error] as const,
      );
      if (fault === null) expectWithin(what, () => judge(seen, all));
      else assert.match(fault instanceof BridgeError ? fault.code : String(fault), /^BRIDGE_STORE_/, what);
      count[fault === null ? 'whole' : 'refused'] += 1;
    }
    return count;
  });
}

function expectWithin(what: string, judge: () => void): void {
  try {
    judge();
  } catch (error) {
    throw new Error(what, { cause: error });
  }
}
