// A profile → the herds that are simulated, and those that run on sockets.
import { noDistribution } from '../../far-sides/kafka/distribution.ts';
import { noReader } from '../../far-sides/kafka/records.ts';
import type { ProofOptions } from '../part.ts';
import type { FarSideOrder } from './far-side-report.ts';
import type { SimulatedHerdOptions } from './simulated-herd.ts';

export interface ReplayPlan {
  readonly order: FarSideOrder;
  readonly groups: number;
  /** Only the first change, so that all come within a second; else the whole event, at its own pace. */
  readonly isHerd: boolean;
}

/** How many machines at a receiver of which speed. The long profile has 100 groups. */
export function simulatedHerdsOf({ seed, isLong }: Pick<ProofOptions, 'seed' | 'isLong'>): SimulatedHerdOptions[] {
  const machines = isLong ? 10_000 : 500;
  const [slow, fast] = [machines / 20, machines / 10];
  const herd = { seed, machines, withinMs: 1000 };
  return [
    { ...herd, perSecond: slow, retryAfterMs: null },
    { ...herd, perSecond: slow, retryAfterMs: [5000, 5000] },
    { ...herd, perSecond: slow, retryAfterMs: [5000, 25_000] },
    { ...herd, perSecond: slow, retryAfterMs: [5000, 5000], withinMs: 30_000 },
    // As a Service Bus namespace in Standard with 10,000 machines: 1,000 operations a second.
    { ...herd, perSecond: fast, retryAfterMs: null },
    { ...herd, perSecond: fast, retryAfterMs: [2000, 2000] },
    { ...herd, perSecond: fast, retryAfterMs: [10_000, 10_000] },
    { ...herd, perSecond: fast, retryAfterMs: [10_000, 20_000] },
  ];
}

export function replaysOf({ isLong }: Pick<ProofOptions, 'isLong'>): readonly ReplayPlan[] {
  const willing = { kind: 'webhook', perSecond: null, retryAfterS: null } as const;
  const short: ReplayPlan[] = [{ order: willing, groups: 1, isHerd: true }];
  if (!isLong) return short;
  return [
    ...short,
    { order: willing, groups: 1, isHerd: false },
    { order: willing, groups: 100, isHerd: true },
    { order: { ...willing, perSecond: 500 }, groups: 100, isHerd: true },
    { order: { ...willing, perSecond: 500, retryAfterS: 5 }, groups: 100, isHerd: true },
    { order: { kind: 'service-bus' }, groups: 1, isHerd: false },
    { order: { kind: 'service-bus' }, groups: 10, isHerd: true },
    // As many connections as a namespace accepts.
    { order: { kind: 'service-bus' }, groups: 50, isHerd: true },
    ...(withoutKafka()
      ? []
      : ([
          { order: { kind: 'kafka', isCounted: true }, groups: 1, isHerd: false },
          { order: { kind: 'kafka', isCounted: true }, groups: 10, isHerd: true },
          { order: { kind: 'kafka', isCounted: false }, groups: 100, isHerd: true },
        ] as const)),
  ];
}

/** Why there is no Kafka here; false if there is one. */
export function withoutKafka(): string | false {
  return noDistribution() || noReader();
}
