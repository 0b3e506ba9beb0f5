// The modules that make regular expressions at run time → what they make of samples.
import { join, relative } from 'node:path';
import type { Expression } from './expressions.ts';

const ROOT = join(import.meta.dirname, '../../..');

let made: Promise<readonly Expression[]> | undefined;

/** As the sources make them, once they are imported and called. Whoever makes one at another place adds it here. */
export function madeAtRunTime(): Promise<readonly Expression[]> {
  made ??= record(async () => {
    await import('../../../src/config/sections.ts');
    await import('../../../src/schema/uri-reference.ts');
    await import('../../../src/telemetry/pretty-lines.ts');
    await import('../../../src/consumer/receive/signed-binary.ts');
    const { nearMiss } = await import('../../../src/schema/near-misses.ts');
    nearMiss({ sought: true }, ['Seen', 'StartRequests']);
    const { Anonymiser } = await import('../../../src/simulator/recording/anonymise.ts');
    const EventId = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
    const rest = { EventType: 'Reboot', ResourceType: 'VirtualMachine', Resources: ['web_0'], NotBefore: '' };
    new Anonymiser(() => 0.5).line({
      at: '2026-01-01T00:00:00.000Z',
      document: { DocumentIncarnation: 1, Events: [{ EventId, EventStatus: 'Scheduled', ...rest }] },
    });
  });
  return made;
}

/** What is made by files of src/ and adapters/ meanwhile. */
async function record(work: () => Promise<void>): Promise<readonly Expression[]> {
  const seen: Expression[] = [];
  const before = globalThis.RegExp;
  globalThis.RegExp = new Proxy(before, {
    construct(target, [source, flags]) {
      const place = /\/((?:src|adapters)\/[^:]+:\d+):\d+/.exec(placeOf(new Error('here').stack ?? ''))?.[1];
      if (place !== undefined && typeof source === 'string') seen.push({ source, flags: String(flags ?? ''), place });
      return Reflect.construct(target, [source, flags]);
    },
  });
  try {
    await work();
    return seen;
  } finally {
    globalThis.RegExp = before;
  }
}

/** The line of a stack that stands behind this file's own. */
function placeOf(stack: string): string {
  const own = relative(ROOT, import.meta.filename);
  return (
    stack
      .split('\n')
      .slice(1)
      .find((line) => !line.includes(own)) ?? ''
  );
}
