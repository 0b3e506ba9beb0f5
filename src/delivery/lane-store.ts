// What a lane and its parts ask of the outbox's queue.
import type { Queue } from '../outbox/queue.ts';

export type LaneStore = Pick<
  Queue,
  | 'nowMs'
  | 'queued'
  | 'queuedOf'
  | 'queuedByUrgency'
  | 'urgent'
  | 'queuedBefore'
  | 'overtaken'
  | 'movedOn'
  | 'position'
  | 'settle'
  | 'retirement'
  | 'retire'
  | 'record'
  | 'requests'
  | 'saveRequests'
>;
