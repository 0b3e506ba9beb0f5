// Steps of a world → which faults begin.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Chance } from '../simulation/chance.ts';
import type { Fault } from './fault.ts';
import { FaultPlayer } from './fault-player.ts';
import type { World } from './world.ts';

const world = { hasPatience: () => false } as unknown as World;

function noted(begun: string[], name: string): Fault {
  return { name, kind: 'process', begin: () => void begun.push(name), hasBitten: () => true };
}

test('a fault begins at its step, and not if the steps end before it', async () => {
  const begun: string[] = [];
  const player = new FaultPlayer(world);
  const early = player.play(noted(begun, 'request-early'), new Chance('early'));
  player.reached(0);
  await early;
  const late = player.play(noted(begun, 'late'), { between: () => 8 } as unknown as Chance);
  player.endSteps();
  await late;
  assert.deepEqual(begun, ['request-early']);
  assert.deepEqual(
    player.played.map(({ hasBitten }) => hasBitten),
    [true],
  );
});
