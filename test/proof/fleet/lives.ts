// A seed and a profile → the lives of groups that are played.
import { Chance } from '../simulation/chance.ts';
import { type Life, type Play, play } from './life.ts';

const MACHINES = 100;
/** So many more groups with `submit: leader`, each with other deaths, in the long profile. */
const LONG_LIVES = 10;
const PLAYS_OF_A_LIFE = 8;

export function livesOf({ seed, isLong }: { readonly seed: number; readonly isLong: boolean }): readonly Life[] {
  const shared = { seed, machines: MACHINES };
  const dead = (which: Play['dead']['which'], count: number) => play({ dead: { which, count } });
  const measured = isLong
    ? [0, 1, 10, 50, 99].map((count) => dead('fastest', count))
    : [play(), dead('fastest', 10), dead('first ranks', 1), dead('fastest', 99)];
  return [
    { ...shared, name: 'leader', submit: 'leader', resources: 'all', plays: measured },
    { ...shared, name: 'every', submit: 'every', resources: 'all', plays: [play({ named: 5 })] },
    { ...shared, name: 'own', submit: 'leader', resources: 'own', plays: [play({ named: 1 }), play({ named: 5 })] },
    ...Array.from({ length: isLong ? LONG_LIVES : 0 }, (_, number): Life => {
      const chance = new Chance('fleet lives', seed, number);
      const plays = Array.from({ length: PLAYS_OF_A_LIFE }, () => deadly(chance));
      return { ...shared, name: `deaths ${number}`, submit: 'leader', resources: 'all', plays };
    }),
  ];
}

function deadly(chance: Chance): Play {
  return {
    named: chance.one([5, 20, 100, 100]),
    dead: { which: chance.one(['fastest', 'first ranks', 'random'] as const), count: chance.one([0, 0, 1, 3, 10, 50]) },
    posterDiesAt: chance.one([null, null, 'post', 'posted'] as const),
  };
}
