// A document with 1,000 new events → how long until the receiver has accepted all of them.

import { BridgeBetween } from './bridge-between.ts';
import type { Row } from './figures.ts';
import { manyEvents } from './many-events.ts';

const EVENTS = 1000;

export async function burst(): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  await surroundings.startBridge('100ms');
  const accepted = acceptedBy(surroundings, EVENTS);
  const answered = surroundings.metadata.list(manyEvents(EVENTS));
  const tookMs = (await accepted) - (await answered);
  return [
    {
      what: `${EVENTS} new events in one document → all accepted`,
      figure: `${tookMs.toFixed(0)} ms`,
      goal: '≤ 1000 ms',
    },
  ];
}

/** The moment at which so many different CloudEvents were accepted. */
function acceptedBy({ receiver }: BridgeBetween, count: number): Promise<number> {
  const ids = new Set<unknown>();
  return new Promise((resolve) => {
    receiver.default = (response, _, { headers }) => {
      ids.add(headers['webhook-id']);
      response.writeHead(204).end(() => {
        if (ids.size === count) resolve(performance.now());
      });
    };
  });
}
