// One input for one target → what was wrong: a throw, an invention, a changed prototype, much time.
import type { Target } from './target.ts';

export interface Failure {
  readonly target: string;
  /** The input in Base64. */
  readonly input: string;
  readonly why: string;
}

const PROTOTYPES = [Object, Array, String, Number, Function, Map, Set, Promise, RegExp, Uint8Array].map(
  ({ prototype }) => prototype as object,
);
const membersOf = () => PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).length).join();
const UNTOUCHED = membersOf();

/** Returns what is wrong with the case, or null. */
export async function tryCase(target: Target, input: Buffer): Promise<string | null> {
  const before = Buffer.from(input);
  const why = await verdictOn(target, input);
  if (why !== null) return why;
  if (!before.equals(input)) return 'changed its input';
  const members = membersOf();
  return members === UNTOUCHED ? null : `changed a prototype: ${members}`;
}

async function verdictOn({ run, judge, judgeError, allows = isBridge }: Target, input: Buffer): Promise<string | null> {
  let output: unknown;
  try {
    const made = run(input);
    output = isPromise(made) ? await made : made;
  } catch (error) {
    if (!allows(error)) return `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
    return judgeError?.(input, error) ?? null;
  }
  return judge?.(input, output) ?? null;
}

function isBridge(error: unknown): boolean {
  return error instanceof Error && error.constructor.name === 'BridgeError';
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && value instanceof Promise;
}
