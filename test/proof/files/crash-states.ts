// Recorded operations and a seed → every crash, and what the disk may hold after it.
import { crc32 } from 'node:zlib';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import type { Share } from './check.ts';
import { type Content, contentOf, crashAfter, type Effect, type Settled, settle } from './disk-model.ts';
import type { Operation } from './operations.ts';

/** One thing that a crash may leave. */
export interface CrashState {
  /** So many operations had happened. */
  readonly after: number;
  /** What the process had said by then. */
  readonly said: readonly string[];
  /** What is left of the effects that no flush covers, in words: for messages. */
  readonly kept: string;
  /** True if nothing is missing: a kill -9, not a power cut. */
  readonly isWhole: boolean;
  readonly content: Content;
}

export interface CrashOptions {
  readonly seed: number;
  /** Random choices for each crash, besides the regular ones. */
  readonly draws: number;
  /** So many effects at most are dropped or kept alone at each crash; the newest ones. Default: all. */
  readonly most?: number;
  /** Only the crashes of this share, which follow each other. Default: all. */
  readonly share?: Share;
  /** Yields one state of so many, by chance. Default: 1, every one. */
  readonly oneOf?: number;
}

/** The time alone is nothing that others see. */
const seenByOthers = (said: readonly string[]): number => said.filter((words) => !words.startsWith('at ')).length;

type Choice = readonly [kept: string, effects: readonly Effect[]];

const [SECTOR, PAGE] = [512, 4096];

/** Yields each different state once. The same bytes after more words are another state. */
export function* crashStates(operations: readonly Operation[], options: CrashOptions): Generator<CrashState> {
  const { random } = new VirtualTime({ seed: options.seed });
  const seen = new Set<string>();
  const said: string[] = [];
  const settled: Settled = new Map();
  for (let after = 0; after <= operations.length; after++) {
    const last = operations[after - 1];
    if (last?.does === 'say') said.push(...last.text.split('\n'));
    const crash = crashAfter(operations, after);
    settle(settled, crash);
    if (!isIn(options.share, after / (operations.length + 1))) continue;
    for (const [kept, effects] of choices(crash, options, random)) {
      if (random() * (options.oneOf ?? 1) >= 1) continue;
      const content = contentOf(effects, settled);
      const print = `${seenByOthers(said)} ${fingerprint(content)}`;
      if (seen.has(print)) continue;
      seen.add(print);
      yield { after, said: [...said], kept, isWhole: kept === 'all', content };
    }
  }
}

/** @param progress at least 0, below 1 */
function isIn({ index, of }: Share = { index: 0, of: 1 }, progress: number): boolean {
  return Math.floor(progress * of) === index;
}

function* choices(
  { effects, open }: ReturnType<typeof crashAfter>,
  { draws, most = Number.POSITIVE_INFINITY }: CrashOptions,
  random: () => number,
): Generator<Choice> {
  const isOpen = new Set(open);
  const keeping = (wanted: (index: number) => boolean): readonly Effect[] =>
    effects.filter((_, index) => !isOpen.has(index) || wanted(index));
  const isName = (index: number) => effects[index]?.of === 'names';
  yield ['all', effects];
  yield ['none', keeping(() => false)];
  yield ['names without bytes', keeping(isName)];
  yield ['bytes without names', keeping((index) => !isName(index))];
  for (const one of open.slice(-most)) {
    yield [`all but effect ${one}`, keeping((index) => index !== one)];
    yield [`effect ${one} alone`, keeping((index) => index === one)];
    yield [`effects up to ${one}`, keeping((index) => index <= one)];
  }
  const newest = open.at(-1);
  if (newest !== undefined)
    for (const [how, torn] of tears(effects[newest] as Effect, random))
      yield [`all, effect ${newest} ${how}`, effects.flatMap((each, index) => (index === newest ? torn : [each]))];
  for (let draw = 0; draw < draws && open.length > 0; draw++) yield [`draw ${draw}`, drawn(effects, isOpen, random)];
}

/** Each open effect is kept, dropped or torn by chance. */
function drawn(effects: readonly Effect[], isOpen: ReadonlySet<number>, random: () => number): readonly Effect[] {
  return effects.flatMap((effect, index) => {
    if (!isOpen.has(index)) return [effect];
    const chance = random();
    if (chance < 0.4) return [effect];
    const torn = tears(effect, random);
    return chance < 0.7 ? (torn[Math.floor(random() * torn.length)]?.[1] ?? []) : [];
  });
}

/** What may be left of one write: up to a byte, a sector or a page; some of its pages; its length in zeros. */
function tears(effect: Effect, random: () => number): readonly (readonly [string, readonly Effect[]])[] {
  if (effect.of !== 'bytes' || effect.bytes.length === 0) return [];
  const { at, bytes } = effect;
  const upTo = (count: number): Effect => ({ ...effect, bytes: bytes.subarray(0, Math.min(bytes.length, count)) });
  const border = (size: number): number => Math.floor((at + random() * bytes.length) / size) * size - at;
  return [
    ['up to a byte', [upTo(1 + Math.floor(random() * (bytes.length - 1)))]],
    ['but its last byte', [upTo(bytes.length - 1)]],
    ['up to a sector', [upTo(Math.max(0, border(SECTOR)))]],
    ['up to a page', [upTo(Math.max(0, border(PAGE)))]],
    ['by some sectors', pieces(effect, SECTOR).filter(() => random() < 0.5)],
    ['in zeros', [{ ...effect, bytes: Buffer.alloc(bytes.length) }]],
    [
      'in zeros up to its last sector',
      [{ ...effect, bytes: Buffer.alloc(bytes.length) }, ...pieces(effect, SECTOR).slice(-1)],
    ],
  ];
}

function pieces(effect: Extract<Effect, { of: 'bytes' }>, size: number): Effect[] {
  const { at, bytes } = effect;
  const found: Effect[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + size - ((at + from) % size));
    found.push({ ...effect, at: at + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return found;
}

function fingerprint(content: Content): number {
  let sum = 0;
  for (const [path, bytes] of content) sum = crc32(bytes ?? '', crc32(`${path}\0${bytes?.length}\0`, sum));
  return sum;
}
