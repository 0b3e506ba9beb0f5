// Test files → what begins first, what shares a process, and what is left.
import { dirname } from 'node:path';

/** They take longest: begun last, the end of the run would wait for them alone. Each has its own process. */
export const LONGEST: readonly string[] = [
  'test/proof/short-profile.test.ts',
  'test/whole/faults/documentation-policy.test.ts',
  'test/whole/full-store.test.ts',
  'test/consumers/python-service-bus.test.ts',
  'test/consumers/java-service-bus.test.ts',
  'test/consumers/java-kafka.test.ts',
  'test/whole/raw-fuzz.test.ts',
  'test/whole/faults/scenarios.test.ts',
  'test/whole/faults/kafka-brokers.test.ts',
  'test/whole/faults/kafka-faults.test.ts',
  'test/whole/bridge/channels.test.ts',
  'test/whole/bridge/day.test.ts',
  'test/adapters/kafka/source-faults.test.ts',
  'test/whole/openapi-fuzz.test.ts',
  'test/whole/console/console.test.ts',
  'test/whole/console/console-care.test.ts',
  'test/whole/simulator-page/page-care.test.ts',
  'test/adapters/service-bus/source-sessions.test.ts',
  'test/adapters/syslog/daemons.test.ts',
  'test/whole/http-flood.test.ts',
  'test/docs/pages.test.ts',
  'test/whole/simulator-page/page.test.ts',
  'test/whole/simulator-page/page-orders.test.ts',
];

/**
 * Of many small files most of the price is a process that loads what they test: so many processes for all files of a
 * folder.
 */
const PROCESSES: Readonly<Record<string, number>> = {
  'test/unit': 6,
  'test/whole/bridge': 4,
  'test/fidelity': 1,
  'test/adapters/webhook': 2,
  'test/adapters/service-bus': 3,
  'test/far-sides/service-bus': 2,
};

export interface RunOrder {
  /** One process each. */
  readonly longest: readonly string[];
  /** One process for each of these lists. */
  readonly shared: readonly (readonly string[])[];
  /** One process each. */
  readonly rest: readonly string[];
}

/** `files` from the root, with `/`. Each of them comes once. */
export function runOrder(files: readonly string[]): RunOrder {
  const longest = LONGEST.filter((file) => files.includes(file));
  const short = files.filter((file) => !longest.includes(file));
  const shared = Object.entries(PROCESSES).flatMap(([folder, count]) =>
    shares(
      short.filter((file) => isIn(folder, file)),
      count,
    ),
  );
  return { longest, shared, rest: short.filter((file) => !shared.flat().includes(file)) };
}

function isIn(folder: string, file: string): boolean {
  return `${dirname(file)}/`.startsWith(`${folder}/`);
}

/** The next file to the next process, so that each has some of all kinds. */
function shares(files: readonly string[], count: number): readonly (readonly string[])[] {
  const all = Array.from({ length: count }, (_, share) => files.filter((_file, index) => index % count === share));
  return all.filter((share) => share.length > 0);
}
