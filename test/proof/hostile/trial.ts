// One input for one target → what was wrong: a throw, an invention, a changed prototype, much time.
import type { Fault } from '../part.ts';
import { isBridgeError, type Target, type Verdict } from './target.ts';

/** What is wrong with a case, in words. */
export interface Wrong {
  readonly why: string;
  /** The count of the proof that it belongs to, if it belongs to one. */
  readonly fault?: Fault;
}

export interface Failure extends Wrong {
  readonly target: string;
  /** The number of the case. */
  readonly index: number;
  /** The input in Base64. */
  readonly input: string;
}

const PROTOTYPES = [Object, Array, String, Number, Function, Map, Set, Promise, RegExp, Uint8Array].map(
  ({ prototype }) => prototype as object,
);
const membersOf = () => PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).length).join();
const UNTOUCHED = membersOf();

/** Returns what is wrong with the case, or null. */
export async function tryCase(target: Target, input: Buffer): Promise<Wrong | null> {
  const before = Buffer.from(input);
  const verdict = await verdictOn(target, input);
  if (verdict !== null) return typeof verdict === 'string' ? { why: verdict } : verdict;
  if (!before.equals(input)) return { why: 'changed its input' };
  const members = membersOf();
  return members === UNTOUCHED ? null : { why: `changed a prototype: ${members}` };
}

async function verdictOn(target: Target, input: Buffer): Promise<Verdict> {
  const { run, judge, judgeError, allows = isBridgeError } = target;
  let output: unknown;
  try {
    const made = run(input);
    output = isPromise(made) ? await made : made;
  } catch (error) {
    if (!allows(error)) return `threw ${stackOf(error)}`;
    return judgedBy(() => judgeError?.(input, error) ?? null);
  }
  return judgedBy(() => judge?.(input, output) ?? null);
}

/** A judge that throws is wrong itself, and must not end the thread. */
function judgedBy(judge: () => Verdict): Verdict {
  try {
    return judge();
  } catch (error) {
    return `could not be judged: ${stackOf(error)}`;
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && value instanceof Promise;
}
