// A piece of work → the synchronous file operations in it, as Node traces them, in their order.
import type { NodeTracing } from 'node:inspector';
import { Session } from 'node:inspector/promises';

/** An event of Node's trace, as Chrome writes it. `B`: begins. */
interface TraceEvent {
  readonly ph: string;
  readonly name: string;
}

const PREFIX = 'fs.sync.';

/**
 * Returns the operations among `names`, such as `fsync`, that `work` began. What `rmSync` does is not traced. Needs the
 * main thread.
 */
export async function fileOperations(names: readonly string[], work: () => void): Promise<string[]> {
  const session = new Session();
  session.connect();
  const events: TraceEvent[] = [];
  session.on('NodeTracing.dataCollected', ({ params }: { params: NodeTracing.DataCollectedEventDataType }) => {
    events.push(...(params.value as TraceEvent[]));
  });
  const isComplete = new Promise((resolve) => session.once('NodeTracing.tracingComplete', resolve));
  await session.post('NodeTracing.start', { traceConfig: { includedCategories: ['node.fs.sync'] } });
  try {
    work();
  } finally {
    await session.post('NodeTracing.stop');
    await isComplete;
    session.disconnect();
  }
  const begun = events.filter(({ ph, name }) => ph === 'B' && name.startsWith(PREFIX));
  return begun.map(({ name }) => name.slice(PREFIX.length)).filter((name) => names.includes(name));
}
