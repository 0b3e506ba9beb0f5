// A seed → the steps of three maintenances, and the change that each step must publish.
import { Chance, guidOf } from '../simulation/chance.ts';
import type { Phase } from '../simulation/oracle/expected-cloud-event.ts';
import type { ListedEvent } from '../simulation/oracle/listed-event.ts';

const MINUTE_MS = 60_000;
const EVENTS = 3;
/** The VM of the stores of older releases, so that they can be opened. */
export const VM = 'sim_0';

/** One change of the document. The next step follows when a healthy sink has the CloudEvent of this one. */
export interface Step {
  readonly phase: Phase;
  readonly event: ListedEvent;
  readonly before: ListedEvent | null;
  /** The approver approves the event, and the service starts it when it accepts the StartRequest. */
  readonly isApproved: boolean;
}

/** The same steps for the same seed and number, apart from NotBefore, which counts from `nowMs`. */
export function storyOf(seed: number, world: string, nowMs: number): readonly Step[] {
  const chance = new Chance('processes', seed, world, 'story');
  const lives = Array.from({ length: EVENTS }, (_, index) => lifeOf(chance, guidOf(seed, world, index), index, nowMs));
  const steps: Step[] = [];
  while (lives.some((life) => life.length > 0)) {
    const next = chance.one(lives.filter((life) => life.length > 0)).shift();
    if (next !== undefined) steps.push(next);
  }
  return steps;
}

/** Scheduled, updated, Started, updated, Completed. The first event is the one that is approved. */
function lifeOf(chance: Chance, EventId: string, index: number, nowMs: number): Step[] {
  const scheduled: ListedEvent = {
    EventId,
    EventStatus: 'Scheduled',
    EventType: chance.one(['Freeze', 'Reboot', 'Redeploy']),
    ResourceType: 'VirtualMachine',
    Resources: chance.is(0.5) ? [VM] : [VM, 'sim_1'],
    NotBefore: new Date(Math.ceil(nowMs / 1000) * 1000 + 30 * MINUTE_MS).toUTCString(),
    Description: 'Host server is undergoing maintenance.',
    EventSource: chance.one(['Platform', 'User']),
    DurationInSeconds: chance.between(1, 60),
  };
  const moved = { ...scheduled, Description: `Moved by ${chance.between(1, 1000)} seconds.` };
  const started: ListedEvent = { ...moved, EventStatus: 'Started', NotBefore: '' };
  const longer = { ...started, DurationInSeconds: chance.between(60, 3600) };
  const step = (phase: Phase, event: ListedEvent, before: ListedEvent | null, isApproved = false): Step => ({
    ...{ phase, event, before, isApproved },
  });
  return [
    step('scheduled', scheduled, null),
    step('updated', moved, scheduled),
    step('started', started, moved, index === 0),
    step('updated', longer, started),
    step('ended', longer, longer),
  ];
}
