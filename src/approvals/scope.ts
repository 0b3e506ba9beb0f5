// An approver's `scope` of the configuration → which events it touches and which it allows to approve (contract, section 8). Pure.
import picomatch from 'picomatch';
import type { ScheduledEvent } from '../model.ts';

export interface ScopeOptions {
  /** EventTypes, without case. Default: all. */
  readonly impacts?: readonly string[];
  /** Globs for names in Resources, without case. Default: all, and events that name none. */
  readonly resources?: readonly string[];
}

type Judged = Pick<ScheduledEvent, 'eventType' | 'resources'>;

export interface Scope {
  /** The impact matches, and any of the names: this approver is concerned. */
  touches(event: Judged): boolean;
  /** The impact matches, and every name, of at least one: an approval reaches all Resources. */
  allows(event: Judged): boolean;
}

/** Compiles the globs once. */
export function compileScope({ impacts, resources }: ScopeOptions): Scope {
  const types = impacts && new Set(impacts.map((impact) => impact.toLowerCase()));
  const isCovered = resources && picomatch([...resources], { nocase: true, dot: true });
  const hasImpact = (event: Judged) => types === undefined || types.has(event.eventType.toLowerCase());
  return {
    touches: (event) => hasImpact(event) && (isCovered === undefined || event.resources.some((name) => isCovered(name))),
    allows: (event) =>
      hasImpact(event) && (isCovered === undefined || (event.resources.length > 0 && event.resources.every((name) => isCovered(name)))),
  };
}
