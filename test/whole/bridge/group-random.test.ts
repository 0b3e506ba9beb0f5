// Seeds → five bridges in trouble: a StartRequest if a ranked one lives, at most one for each rank.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type GroupMachine, VirtualGroup } from '../../virtual/virtual-group.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const SEEDS = Array.from({ length: 24 }, (_, index) => 20_261_121 + index);
const FAILOVER_SECONDS = 10;
/** Every trouble is over by then. */
const TROUBLE_SECONDS = 70;

/** What befalls a machine; `well`: nothing. */
const FATES = ['well', 'well', 'well', 'dead', 'killed', 'frozen', 'cut off', 'cannot post', 'slow'] as const;
type Fate = (typeof FATES)[number];

interface Happening {
  readonly atSeconds: number;
  readonly run: () => void | Promise<void>;
}

class Chance {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = new VirtualTime({ seed }).random;
  }

  /** A whole number. */
  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  some<T>(list: readonly T[]): T[] {
    return list.filter(() => this.random() < 0.5).sort(() => this.random() - 0.5);
  }
}

/** From one moment to a later one, in tenths of a second. */
function trouble(machine: GroupMachine, fate: Fate, chance: Chance): Happening[] {
  const atSeconds = chance.below(400) / 10;
  const overSeconds = atSeconds + 0.1 + chance.below(TROUBLE_SECONDS * 10 - 410) / 10;
  const between = (begin: Happening['run'], end: Happening['run']) => [
    { atSeconds, run: begin },
    { atSeconds: overSeconds, run: end },
  ];
  const cut = (cutOff: GroupMachine['cutOff']) => () => {
    machine.cutOff = cutOff;
  };
  if (fate === 'killed')
    return between(
      () => machine.bridge.kill(),
      async () => void (await machine.bridge.start()),
    );
  if (fate === 'frozen')
    return between(
      () => machine.clock.freeze(),
      () => machine.clock.thaw(),
    );
  if (fate === 'cut off') return between(cut('all'), cut('none'));
  if (fate === 'cannot post') return between(cut('POST'), cut('none'));
  return [];
}

interface PlayedGroup {
  readonly group: VirtualGroup;
  /** By machine. */
  readonly fates: readonly Fate[];
  /** The names in the order in which they are to post. */
  readonly ranks: readonly string[];
  /** Nothing is decided, or a hold stands, before that. */
  readonly freeAtSeconds: number;
  /** The platform starts the event as soon as somebody approves it. */
  readonly startsInTime: boolean;
}

/** Plays one group to its end. */
async function play(t: TestContext, seed: number): Promise<PlayedGroup> {
  const chance = new Chance(seed);
  const names = ['sim_0', 'sim_1', 'sim_2', 'sim_3', 'sim_4'];
  const resources = chance.some(names);
  const members = chance.some(names);
  const isByPolicy = chance.random() < 0.5;
  const isHeld = !isByPolicy && chance.random() < 0.5;
  const startsInTime = chance.random() < 0.5;
  const group = new VirtualGroup(t, {
    // A request that is under way for long is not given up.
    metadata: { timeout: '30s' },
    approvals: {
      approvers: { ops: {} },
      sources: { topic: { type: 'memory', approver: 'ops' } },
      group: { submit: 'leader', failoverAfter: `${FAILOVER_SECONDS}s`, ...(members.length > 0 && { members }) },
      ...(isByPolicy && { policy: [{ when: {}, then: 'approve' }] }),
    },
  });
  const fates = group.machines.map(() => chance.one(FATES));
  for (const [index, machine] of group.machines.entries()) {
    machine.clock.skewMs = (chance.below(1200) - 600) * 1000;
    if (fates[index] === 'slow')
      Object.assign(machine.transit, { thereMs: chance.below(15_000), backMs: chance.below(10_000) });
  }
  const alive = [...fates.keys()].filter((index) => fates[index] !== 'dead');
  if (alive.length > 0) await group.start(...alive);

  const fields = startsInTime ? {} : { otherTenants: '10m' };
  const eventId = group.schedule({ ...fields, Resources: resources.length > 0 ? resources : names });
  const happenings = group.machines.flatMap((machine, index) => trouble(machine, fates[index] ?? 'well', chance));
  const entries = [{ EventId: eventId }];
  const releasedAtSeconds = 4 + chance.below(40);
  if (!isByPolicy)
    happenings.push({
      atSeconds: 3,
      run: () => group.tell({ StartRequests: entries, ...(isHeld && { Holds: entries }) }),
    });
  if (isHeld) happenings.push({ atSeconds: releasedAtSeconds, run: () => group.tell({ Releases: entries }) });
  let nowSeconds = 0;
  for (const { atSeconds, run } of happenings.toSorted((one, other) => one.atSeconds - other.atSeconds)) {
    await group.advance(atSeconds - nowSeconds);
    nowSeconds = atSeconds;
    await run();
  }
  await group.advance(TROUBLE_SECONDS + 6 * FAILOVER_SECONDS + 30);
  const named = resources.length > 0 ? resources : names;
  const ranks = [...named.toSorted(), ...members.filter((name) => !named.includes(name))];
  return { group, fates, ranks, freeAtSeconds: isHeld ? releasedAtSeconds : isByPolicy ? 0 : 3, startsInTime };
}

for (const seed of SEEDS) {
  test(`from the seed ${seed}: no rank that lives is missed, and none posts twice or before its turn`, async (t) => {
    const { group, fates, ranks, freeAtSeconds, startsInTime } = await play(t, seed);
    const posts = group.posts();
    const fateOf = (name: string) => fates[group.machines.findIndex((machine) => machine.name === name)] as Fate;
    const told = JSON.stringify({
      ranks: ranks.map((name) => [name, fateOf(name)]),
      freeAtSeconds,
      startsInTime,
      posts,
    });
    const vms = posts.map(([vm]) => vm);
    const living = ranks.filter((name) => fateOf(name) !== 'dead');

    assert.equal(new Set(vms).size, vms.length, `at most one for each rank: ${told}`);
    for (const [vm, afterSeconds, status] of posts) {
      assert.equal(status, 200, told);
      assert.ok(ranks.includes(vm), `${vm} has no rank: ${told}`);
      assert.ok(
        afterSeconds >= freeAtSeconds + ranks.indexOf(vm) * FAILOVER_SECONDS,
        `${vm} posts before its turn: ${told}`,
      );
    }
    if (startsInTime)
      assert.equal(vms.length > 0, living.length > 0, `at least one where any ranked one lives: ${told}`);
    else
      assert.deepEqual(vms.toSorted(), living.toSorted(), `each one that lives, while the event is Scheduled: ${told}`);
    const [leader = ''] = ranks;
    if (startsInTime && fateOf(leader) === 'well') assert.deepEqual(vms, [leader], told);
  });
}
