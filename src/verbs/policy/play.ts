// `policy test`: events, or a scenario in virtual time → the decisions of the rules.
import { RulesInForce, type RulesOptions } from '../../approvals/rules/rules-in-force.ts';
import { Forecast, type Forecasted } from '../../approvals/views/forecast.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import type { Script } from '../../simulator/script/script.ts';
import { compileDecision, type Judged } from './decision.ts';
import { documents, type PlayOptions } from './events.ts';

/**
 * Yields a decision for each event that appears or, while it is Scheduled, changes, and for each about which something
 * else holds than was yielded: a budget holds it back at its moment, or does so no more, or its window has closed.
 */
export function* decisionsIn(script: Script, approvals: RulesOptions, options: PlayOptions): Generator<Judged> {
  const rules = new RulesInForce(approvals);
  const decide = compileDecision(approvals, rules);
  const forecast = new Forecast(rules);
  for (const { atMs, events } of documents(script, options)) {
    // A bridge reads a document up to a second later, so what is due at its moment comes first.
    yield* until(forecast, atMs).map(decide);
    yield* forecast.observe(byKey(events), atMs).map(decide);
  }
}

/** Returns a decision for each event of one document, in its order. */
export function decisionsOn(
  events: readonly ScheduledEvent[],
  approvals: RulesOptions,
  atMs: number,
): readonly Judged[] {
  const rules = new RulesInForce(approvals);
  return new Forecast(rules).observe(byKey(events), atMs).map(compileDecision(approvals, rules));
}

function until(forecast: Forecast, endMs: number): readonly Forecasted[] {
  const forecasted: Forecasted[] = [];
  for (let nextMs = forecast.nextMs(); nextMs !== null && nextMs <= endMs; nextMs = forecast.nextMs())
    forecasted.push(...forecast.advance(nextMs));
  return forecasted;
}

/** By EventId in lower case. A file may list one EventId several times, to ask about several variants. */
function byKey(events: readonly ScheduledEvent[]): ReadonlyMap<string, ScheduledEvent> {
  const keyed = new Map<string, ScheduledEvent>();
  for (const [index, event] of events.entries()) {
    const key = event.eventId.toLowerCase();
    keyed.set(keyed.has(key) ? `${key} ${index}` : key, event);
  }
  return keyed;
}
