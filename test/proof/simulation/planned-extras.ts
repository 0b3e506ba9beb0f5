// A planned history → the same with what chance alone brings too seldom, drawn apart from the plan.
import { Chance } from './chance.ts';
import type { History, RuleSettings, Settings, SinkSettings, Step } from './history.ts';
import { withEmphasis } from './planned-emphasis.ts';
import { plannedFilter } from './planned-settings.ts';
import { situations } from './planned-situations.ts';

const SECOND = 1000;
/** Of the events with a notice, so many get the yes of everybody at one machine. */
const UNANIMOUS = 0.12;

/** Its own stream of chance leaves the rest of the history as it was planned. */
export function withExtras(history: History): History {
  const chance = new Chance(history.seed, history.world, 'extras');
  const extras = [...unanimousAnswers(history, chance), ...disksFullAtPosts(history, chance)];
  const narrowed = history.settings.map((settings) => withNarrowRules(settings, chance));
  const filters = new Chance(history.seed, history.world, 'filters');
  const settings = narrowed.map((each, place) => (place === 0 ? each : withOtherFilters(each, filters)));
  const emphasis = new Chance(history.seed, history.world, 'emphasis');
  const emphasized = withEmphasis({ ...history, settings }, emphasis);
  const steps = [...history.steps, ...extras, ...situations(emphasized)];
  return {
    ...emphasized,
    steps: steps.toSorted((one, other) => one.atMs - other.atMs),
  };
}

/** `required: all` is rarely full otherwise. */
function unanimousAnswers({ steps, machines }: History, chance: Chance): readonly Step[] {
  return steps.flatMap((step): Step[] => {
    if (step.do !== 'schedule' || !chance.is(UNANIMOUS)) return [];
    const { event } = step;
    const machine = chance.between(0, machines);
    const when = () => step.atMs + Math.round(chance.between(SECOND, 8 * SECOND));
    const asked = ['orders', 'billing', 'operator'].map(
      (as): Step => ({ atMs: when(), do: 'ask', machine, as, act: 'approve', event, seen: false }),
    );
    return [...asked, { atMs: when(), do: 'tell', act: 'approve', event }];
  });
}

/** The answer to a StartRequest comes when nothing can be stored. */
function disksFullAtPosts({ steps, machines }: History, chance: Chance): readonly Step[] {
  const lastMs = steps.at(-1)?.atMs ?? 0;
  return Array.from({ length: machines }, (_, machine): Step[] => {
    if (!chance.is(0.5)) return [];
    const moment = chance.one(['post', 'posted'] as const);
    const atMs = chance.between(5 * SECOND, Math.max(6 * SECOND, lastMs));
    return [{ atMs, do: 'disk-full-at', machine, moment, forMs: chance.between(SECOND / 2, 3 * SECOND) }];
  }).flat();
}

/** A rule for some machines also meets events that name others, for which it must not approve. */
function withNarrowRules(settings: Settings, chance: Chance): Settings {
  const { policy } = settings.approvals;
  if (policy === 'documentation') return settings;
  const narrowed = policy.map((rule): RuleSettings => {
    if (rule.then !== 'wait' || rule.deadline === undefined || !chance.is(0.3)) return rule;
    return { ...rule, when: { ...rule.when, resources: [chance.one(['web_0', '*_1'])] } };
  });
  return { ...settings, approvals: { ...settings.approvals, policy: narrowed } };
}

/** What a reload may change of sinks whose filter nothing else depends on. */
function withOtherFilters(settings: Settings, chance: Chance): Settings {
  const sinks = Object.entries(settings.sinks).map(([name, sink]): [string, SinkSettings] => {
    if (name === 'audit' || sink.approve !== undefined || chance.is(0.5)) return [name, sink];
    const { filter: _, ...rest } = sink;
    return [name, { ...rest, ...plannedFilter(chance) }];
  });
  return { ...settings, sinks: Object.fromEntries(sinks) };
}
