// Faults of one sink and of brokers: unreachable, silent, slow, refusing, away.
import type { Fault } from '../fault.ts';
import { GATE_MODES } from '../gate.ts';
import type { World } from '../world.ts';

function gates(world: World) {
  return world.sides.flatMap(({ gate }) => (gate ? [gate] : []));
}

const CONNECTIONS: readonly Fault[] = GATE_MODES.map((mode) => ({
  name: mode,
  kind: 'sink',
  begin: (world) => Promise.all(gates(world).map((gate) => gate.begin(mode))),
  end: (world) => Promise.all(gates(world).map((gate) => gate.end(mode))),
}));

function answering(name: string, status: number): Fault {
  const give = (world: World, given: number | null) => {
    for (const { gate, answer } of world.sides) if (gate) answer?.(given);
  };
  return { name, kind: 'sink', begin: (world) => give(world, status), end: (world) => give(world, null) };
}

const BROKER_BOUNCE: Fault = {
  name: 'broker-bounce',
  kind: 'broker',
  begin: (world) => Promise.all(world.sides.map(({ leave }) => leave?.())),
  end: (world) => Promise.all(world.sides.map(({ comeBack }) => comeBack?.())),
};

export const SINK_FAULTS: readonly Fault[] = [...CONNECTIONS, answering('failing', 503), BROKER_BOUNCE];
