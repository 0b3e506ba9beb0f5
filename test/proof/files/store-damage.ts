// A seed → a small store with damaged pages and log, and what starts on it do.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BridgeError } from '../../../src/errors.ts';
import { SECOND } from '../../virtual/virtual-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { type Check, type Checked, expectEnough, type Share } from './check.ts';
import { BEGIN_MS, MAINTENANCES } from './maintenances.ts';
import { inFolder } from './recording.ts';
import { expectNothingNew, expectSame, interrupt, resume, STORE } from './store-judge.ts';

/** Three events are open and one has ended; a sink has not answered yet. */
const DAMAGED_AT_MS = BEGIN_MS + 26 * SECOND;
const [PAGE, LOG_HEADER, FRAME] = [4096, 32, 24 + 4096];

/** Flips bits in each page of the file. A start on it must refuse, or lose and alter nothing. */
export const flipPages: Check = ({ seed, isLong, share }) => {
  const { random } = new VirtualTime({ seed });
  const bits = isLong ? 64 : 3;
  return damage('stop', 'outbox.db', { share, judge: expectSame }, (bytes) =>
    Array.from({ length: (bytes.length / PAGE) * bits }, (_, number) => {
      const at = Math.floor(number / bits) * PAGE + Math.floor(random() * PAGE);
      const bit = Math.floor(random() * 8);
      return [`bit ${bit} in byte ${at}`, () => flipped(bytes, at, bit)] as const;
    }),
  );
};

/**
 * Cuts the log at each frame and within it, and flips bits of each. Nobody can see that flushed commits are missing at
 * the end, so a start may continue from an earlier commit. It must not invent anything.
 */
export const damageLog: Check = ({ seed, isLong, share }) => {
  const { random } = new VirtualTime({ seed });
  // Bits for each frame, and one frame of so many.
  const [bits, oneOf] = isLong ? [4, 1] : [1, 20];
  return damage('kill', 'outbox.db-wal', { share, judge: expectNothingNew }, (bytes) => {
    const frames = Math.floor((bytes.length - LOG_HEADER) / FRAME / oneOf);
    return Array.from({ length: frames }, (_, index) => {
      const number = index * oneOf + Math.floor(random() * oneOf);
      const begin = LOG_HEADER + number * FRAME;
      const within = begin + 1 + Math.floor(random() * (FRAME - 1));
      const flips = Array.from({ length: bits }, () => [begin + Math.floor(random() * FRAME), random() * 8] as const);
      return [
        [`cut at frame ${number}`, () => bytes.subarray(0, begin)] as const,
        [`cut in frame ${number}`, () => bytes.subarray(0, within)] as const,
        ...flips.map(
          ([at, bit]) => [`bit in byte ${at} of the log`, () => flipped(bytes, at, Math.floor(bit))] as const,
        ),
      ];
    }).flat();
  });
};

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ (1 << bit), at);
  return copy;
}

type Judge = (said: readonly string[], usual: readonly string[]) => void;

function damage(
  how: 'stop' | 'kill',
  file: string,
  { share, judge }: { readonly share: Share; readonly judge: Judge },
  damages: (bytes: Buffer) => readonly (readonly [string, () => Buffer])[],
): Promise<Checked> {
  return inFolder(async (root) => {
    const [usual, sound, one] = ['usual', 'sound', 'one'].map((name) => join(root, name)) as [string, string, string];
    for (const folder of [usual, sound]) mkdirSync(join(folder, STORE, '..'), { recursive: true });
    const expected = await resume(usual, []);
    const said = await interrupt(sound, DAMAGED_AT_MS, how);
    let [refused, whole] = [0, 0];
    const all = damages(readFileSync(join(sound, STORE, file)));
    for (const [what, bytes] of all.filter((_, index) => index % share.of === share.index)) {
      rmSync(one, { recursive: true, force: true });
      cpSync(sound, one, { recursive: true });
      writeFileSync(join(one, STORE, file), bytes());
      const [seen, fault] = await resume(one, said).then(
        (words) => [words, null] as const,
        (error) => [[], error] as const,
      );
      if (fault === null) expectWithin(what, () => judge(seen, expected));
      else assert.match(fault instanceof BridgeError ? fault.code : String(fault), /^BRIDGE_STORE_/, what);
      if (fault === null) whole += 1;
      else refused += 1;
    }
    expectEnough(whole, 20 / share.of, 'starts');
    return { did: `${refused} refused, ${whole} continued to the end`, maintenances: whole * MAINTENANCES };
  });
}

function expectWithin(what: string, judge: () => void): void {
  try {
    judge();
  } catch (error) {
    throw new Error(what, { cause: error });
  }
}
