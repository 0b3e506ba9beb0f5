// A moment that a bridge may know only roughly, after a restart or a jump of its clock → its age.

/** In true virtual time: it lies between the two. */
export interface Moment {
  readonly fromMs: number;
  readonly toMs: number;
}

export type Answer = 'yes' | 'no' | 'maybe';

export function exactly(atMs: number): Moment {
  return { fromMs: atMs, toMs: atMs };
}

export function atLeast(moment: Moment, nowMs: number, ageMs: number): Answer {
  if (nowMs - moment.toMs >= ageMs) return 'yes';
  return nowMs - moment.fromMs < ageMs ? 'no' : 'maybe';
}

/** After a clock was set back, a moment may lie in its future. Then nobody knows its age. */
export function atMost(moment: Moment, nowMs: number, ageMs: number): Answer {
  if (nowMs - moment.fromMs <= ageMs) return moment.toMs > nowMs ? 'maybe' : 'yes';
  return nowMs - moment.toMs > ageMs ? 'no' : 'maybe';
}

export function both(one: Answer, other: Answer): Answer {
  if (one === 'no' || other === 'no') return 'no';
  return one === 'yes' && other === 'yes' ? 'yes' : 'maybe';
}

export function either(one: Answer, other: Answer): Answer {
  if (one === 'yes' || other === 'yes') return 'yes';
  return one === 'no' && other === 'no' ? 'no' : 'maybe';
}

/** As a process of another run understands it: by the wall clock, which may have jumped, and written some time ago. */
export function remembered(moment: Moment, skewMs: number, staleMs = 0): Moment {
  return {
    fromMs: Math.min(moment.fromMs, moment.fromMs + skewMs) - staleMs,
    toMs: Math.max(moment.toMs, moment.toMs + skewMs),
  };
}
