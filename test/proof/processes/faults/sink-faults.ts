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
  // Nobody but the bridge sees that nobody listens.
  hasBitten: (world) =>
    mode === 'refuse'
      ? /"sink":"hurt"[^\n]*ECONNREFUSED/.test(world.bridge.wholeLog)
      : gates(world).some(({ felt }) => (felt.get(mode) ?? 0) > 0),
  end: (world) => Promise.all(gates(world).map((gate) => gate.end(mode))),
}));

function answering(name: string, status: number): Fault {
  const give = (world: World, given: number | null) => {
    for (const { gate, answer } of world.sides) if (gate) answer?.(given);
  };
  return {
    name,
    kind: 'sink',
    begin: (world) => give(world, status),
    hasBitten: ({ sides }) => sides.some(({ refused }) => (refused?.() ?? 0) > 0),
    end: (world) => give(world, null),
  };
}

const BROKER_BOUNCE: Fault = {
  name: 'broker-bounce',
  kind: 'broker',
  begin: (world) => Promise.all(world.sides.map(({ leave }) => leave?.())),
  hasBitten: ({ sides, bridge: { wholeLog } }) => {
    const leaving = sides.filter(({ leave }) => leave !== undefined);
    const failed = leaving.map(({ name }) => new RegExp(`"level":"warn"[^\\n]*"sink":"${name}"`));
    return failed.length > 0 && failed.every((line) => line.test(wholeLog));
  },
  end: (world) => Promise.all(world.sides.map(({ comeBack }) => comeBack?.())),
};

export const SINK_FAULTS: readonly Fault[] = [...CONNECTIONS, answering('failing', 503), BROKER_BOUNCE];
