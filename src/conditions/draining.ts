// The section `http.drain` and the listed events → the event that takes this VM out of its pool.
import * as v from 'valibot';
import type { ScheduledEvent } from '../model/events.ts';
import { affects } from '../model/ids.ts';
import { durationBetween, type OptionsOf, texts } from '../schema/pieces.ts';
import { noticeMs, oneOf } from './matchers.ts';

/** All except Freeze, which ends within seconds. */
const IMPACTS = ['Reboot', 'Redeploy', 'Preempt', 'Terminate'];

export const drainSection = v.pipe(
  v.strictObject({
    impacts: v.optional(texts('EventTypes, such as Reboot, without case.'), IMPACTS),
    from: v.optional(
      v.pipe(
        v.picklist(['scheduled', 'started']),
        v.description('scheduled: from the announcement on. started: from the start of the event on.'),
      ),
      'scheduled',
    ),
    notice: v.exactOptional(
      v.pipe(
        v.strictObject({
          below: durationBetween('1s', '365d', 'How long before NotBefore draining begins.'),
        }),
        v.description('For events that have not started. Default: at any time before NotBefore.'),
      ),
    ),
  }),
  v.check(
    ({ from, notice }) => from === 'scheduled' || notice === undefined,
    'has a notice without effect: with from: started, leave it out',
  ),
  v.transform(({ impacts, from, notice }) => ({ impacts, from, belowMs: notice?.below ?? Number.POSITIVE_INFINITY })),
  v.description(
    'When GET /drainz answers 503, so that a load balancer takes this machine out of its pool. Default: /drainz is 404.',
  ),
);

type DrainOptions = OptionsOf<typeof drainSection>;

/** Returns the event that starts next, or null if this VM serves. @param nowMs wall time */
export function drainingEvent(
  events: Iterable<ScheduledEvent>,
  { impacts, from, belowMs }: DrainOptions,
  vmName: string,
  nowMs: number,
): ScheduledEvent | null {
  const isImpact = oneOf(impacts);
  const isFarEnough = (event: ScheduledEvent) =>
    event.eventStatus === 'Started' || (from === 'scheduled' && noticeMs(event, nowMs) < belowMs);
  const draining = [...events].filter(
    (event) => isImpact(event.eventType) && affects(event, vmName) && isFarEnough(event),
  );
  const leftMs = (event: ScheduledEvent) => (event.eventStatus === 'Started' ? -1 : noticeMs(event, nowMs));
  return draining.sort((one, other) => leftMs(one) - leftMs(other))[0] ?? null;
}
