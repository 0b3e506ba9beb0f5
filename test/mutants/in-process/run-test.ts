// One collected test → null, or why it failed.
import type { CollectedTest } from './collect.ts';

/** A test that waits while nothing can wake it would wait for ever. `node:test` ends it at once; here, after this. */
const IDLE_MS = 2_000;
const CHECK_MS = 100;

/** Fails as under `node:test`: if the test or one of its `after` fails, or an error meets no handler meanwhile. */
export async function failureOf({ run }: CollectedTest): Promise<string | null> {
  const undos: (() => unknown)[] = [];
  const watch = watchProcess();
  const attempt = async (work: () => unknown) => {
    try {
      await Promise.race([(async () => work())(), watch.trouble]);
      return null;
    } catch (error) {
      return String(error);
    }
  };
  let failure = await attempt(() => run({ after: (undo) => undos.push(undo) }));
  for (const undo of undos) failure = (await attempt(undo)) ?? failure;
  // An error without a handler is reported after the microtasks.
  failure ??= await attempt(() => new Promise((resolve) => setImmediate(resolve)));
  watch.end();
  return failure;
}

function watchProcess(): { readonly trouble: Promise<never>; readonly end: () => void } {
  const { promise: trouble, reject } = Promise.withResolvers<never>();
  trouble.catch(() => {});
  process.on('unhandledRejection', reject);
  process.on('uncaughtException', reject);
  let idleMs = 0;
  const timer = setInterval(() => {
    idleMs = isMore(process.getActiveResourcesInfo(), before) ? 0 : idleMs + CHECK_MS;
    if (idleMs >= IDLE_MS) reject(new Error('nothing is left that could end this test'));
  }, CHECK_MS);
  const before = process.getActiveResourcesInfo();
  return {
    trouble,
    end: () => {
      clearInterval(timer);
      process.off('unhandledRejection', reject);
      process.off('uncaughtException', reject);
    },
  };
}

/** True if there are more resources of a kind, such as timers or sockets. */
function isMore(now: readonly string[], before: readonly string[]): boolean {
  const countOf = (kind: string, resources: readonly string[]) => resources.filter((each) => each === kind).length;
  return now.some((kind) => countOf(kind, now) > countOf(kind, before));
}
