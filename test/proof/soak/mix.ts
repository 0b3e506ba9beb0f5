// A profile and the number of a poll → what happens around the bridge at that poll: the normal mix.

/** The mix in polls; with one poll a second, in seconds. */
export interface Mix {
  /** From the begin of one maintenance to that of the next. */
  readonly betweenMaintenances: number;
  /** From first sight: NotBefore moves, an approver approves (every second maintenance), it starts by itself. */
  readonly movesAfter: number;
  readonly approvedAfter: number;
  readonly startsAfter: number;
  /** From start to end. */
  readonly lasts: number;
  /** From one scrape of the metrics to the next; probes of readiness lie between them. */
  readonly betweenScrapes: number;
  readonly betweenStatusReads: number;
  /** From one reload to the next, each with another time limit of a sink. */
  readonly betweenReloads: number;
}

/** A machine with an unusual number of maintenances: 864 a month. */
export const DAILY: Mix = {
  betweenMaintenances: 3000,
  movesAfter: 60,
  approvedAfter: 120,
  startsAfter: 900,
  lasts: 120,
  betweenScrapes: 60,
  betweenStatusReads: 600,
  betweenReloads: 86_400,
};

/** The same in a tenth of the time, for the short profile. */
export const HURRIED: Mix = {
  betweenMaintenances: 300,
  movesAfter: 20,
  approvedAfter: 40,
  startsAfter: 150,
  lasts: 40,
  betweenScrapes: 20,
  betweenStatusReads: 60,
  betweenReloads: 1000,
};

/** The mix of `DAILY` for polls every 30 s. */
export const SPARSE: Mix = {
  betweenMaintenances: 100,
  movesAfter: 2,
  approvedAfter: 4,
  startsAfter: 30,
  lasts: 4,
  betweenScrapes: 10,
  betweenStatusReads: 20,
  betweenReloads: 2880,
};

export type Action = 'metrics' | 'readiness' | 'events' | 'reload';

/** What callers do at this poll, apart from approving. */
export function actionsAt(poll: number, mix: Mix): readonly Action[] {
  const isDue = (every: number, offset = 0) => poll > offset && (poll - offset) % every === 0;
  return [
    ...(isDue(mix.betweenScrapes) ? (['metrics'] as const) : []),
    ...(isDue(mix.betweenScrapes, mix.betweenScrapes / 2) ? (['readiness'] as const) : []),
    ...(isDue(mix.betweenStatusReads) ? (['events'] as const) : []),
    ...(isDue(mix.betweenReloads) ? (['reload'] as const) : []),
  ];
}

/** Of one maintenance, from 0 on. Every second one is approved. */
export function isApproved(index: number): boolean {
  return index % 2 === 0;
}

/** How many maintenances have ended when so many polls are answered, if none begins too late to end. */
export function maintenancesWithin(polls: number, mix: Mix): number {
  return Math.max(0, Math.floor((polls - mix.startsAfter - 2 * mix.lasts) / mix.betweenMaintenances));
}

/** An EventId that follows from the number of the maintenance. */
export function eventIdOf(index: number): string {
  return `50AC0000-0000-4000-8000-${index.toString(16).toUpperCase().padStart(12, '0')}`;
}
