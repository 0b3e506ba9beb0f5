// A scenario's text → a script, or every fault in it. Import it lazily: it loads the YAML parser.
import { parseDuration } from '../../formats/durations.ts';
import { type Fault, formatPath, nearest, type Path } from '../../schema/faults.ts';
import { isMapping, validate } from '../../schema/validate.ts';
import { parseYaml } from '../../schema/yaml.ts';
import { ACTION_KEYS, scenarioSchema } from './scenario-schema.ts';
import type { Script } from './script.ts';

/** The most names that a fault lists: a file may have thousands of names and as many faults. */
const MOST_NAMES = 20;

const KIND = 'scenario';

type ReadScenario = { readonly script: Script } | { readonly faults: readonly Fault[] };

/** Reads a scenario and reports all its faults at once. docs/simulate/scenarios.md describes the keys. */
export function readScenario(text: string, name: string): ReadScenario {
  const { value, faults: unreadable } = parseYaml(text, KIND);
  if (value === undefined) return { faults: unreadable };
  if (!isMapping(value))
    return { faults: [...unreadable, { path: '', message: 'a scenario must be a mapping with purpose and steps' }] };
  const { output, faults: misfits } = validate(scenarioSchema, value, [], KIND);
  const faults = [...unreadable, ...misfits, ...orderFaults(value)];
  return faults.length > 0 || output === undefined ? { faults } : { script: { name, ...output } };
}

/** Facts about the steps above a step. */
interface PriorSteps {
  /** The time of the last step that has a valid one. */
  after: { readonly text: string; readonly ms: number };
  readonly names: Set<string>;
  /** In lower case. */
  readonly eventIds: Set<string>;
  readonly repeats: boolean;
}

/** Checks the steps against each other. Ignores values that the schema rejects, such as an invalid time. */
function orderFaults(file: Readonly<Record<string, unknown>>): Fault[] {
  const steps = Array.isArray(file['steps']) ? file['steps'] : [];
  const prior: PriorSteps = {
    after: { text: '0s', ms: 0 },
    names: new Set(),
    eventIds: new Set(),
    repeats: file['every'] !== undefined,
  };
  const faults = steps.flatMap((step: unknown, index) =>
    isMapping(step) ? stepFaults(step, ['steps', index], prior) : [],
  );
  const everyMs = durationOf(file['every']);
  if (everyMs !== null && everyMs < prior.after.ms)
    faults.push({ path: 'every', message: `is shorter than the scenario: its last step is at ${prior.after.text}` });
  return faults;
}

function stepFaults(step: Readonly<Record<string, unknown>>, at: Path, prior: PriorSteps): Fault[] {
  return [...timeFaults(step['after'], at, prior), ...actionFaults(step, at), ...nameFaults(step, at, prior)];
}

function timeFaults(after: unknown = '0s', at: Path, prior: PriorSteps): Fault[] {
  const ms = durationOf(after);
  if (ms === null) return [];
  if (ms < prior.after.ms)
    return [
      fault(
        [...at, 'after'],
        `is earlier than the step above it (${prior.after.text}): list steps in the order of their times`,
      ),
    ];
  prior.after = { text: String(after), ms };
  return [];
}

function actionFaults(step: Readonly<Record<string, unknown>>, at: Path): Fault[] {
  const keys = Object.keys(step).filter((key) => key !== 'after');
  const actions = keys.filter((key) => ACTION_KEYS.includes(key));
  if (actions.length > 1) return [fault(at, `has several actions (${actions.join(', ')}): give each its own step`)];
  // An unknown key may be a misspelled action.
  return actions.length === 0 && keys.length === 0 ? [fault(at, 'has no action', ACTION_KEYS)] : [];
}

function nameFaults(step: Readonly<Record<string, unknown>>, at: Path, prior: PriorSteps): Fault[] {
  const { schedule, change, start, end, cancel } = step;
  if (isMapping(schedule)) return scheduleFaults(schedule, [...at, 'schedule'], prior);
  return [
    ...(isMapping(change) ? changeFaults(change, [...at, 'change'], prior) : []),
    ...Object.entries({ start, end, cancel }).flatMap(([key, event]) => referenceFaults(event, [...at, key], prior)),
  ];
}

function scheduleFaults(schedule: Readonly<Record<string, unknown>>, at: Path, prior: PriorSteps): Fault[] {
  const { as, EventId, count } = schedule;
  const faults: Fault[] = [];
  if (typeof as === 'string') {
    if (prior.names.has(as)) faults.push(fault([...at, 'as'], 'is already the name (as) of an event in a step above'));
    else prior.names.add(as);
  }
  if (typeof EventId !== 'string') return faults;
  const once = 'an EventId can be used only once';
  if (prior.eventIds.has(EventId.toLowerCase()))
    faults.push(fault([...at, 'EventId'], `is used in a step above: ${once}`));
  else if (prior.repeats)
    faults.push(fault([...at, 'EventId'], `cannot be set in a scenario that repeats (every): ${once}`));
  else if (typeof count === 'number' && count > 1)
    faults.push(fault([...at, 'EventId'], `cannot be set for several events (count): ${once}`));
  prior.eventIds.add(EventId.toLowerCase());
  return faults;
}

function changeFaults(change: Readonly<Record<string, unknown>>, at: Path, prior: PriorSteps): Fault[] {
  const isIdle = Object.keys(change).every((key) => key === 'event');
  return [
    ...(isIdle ? [fault(at, 'changes nothing: add a field to change')] : []),
    ...referenceFaults(change['event'], [...at, 'event'], prior),
  ];
}

function referenceFaults(event: unknown, path: Path, { names }: PriorSteps): Fault[] {
  if (typeof event !== 'string' || event === '' || names.has(event)) return [];
  const allowed = names.size > MOST_NAMES ? [] : [...names];
  return [
    fault(path, 'is not the name (as) of an event that a step above schedules', allowed, nearest(event, [...names])),
  ];
}

function fault(path: Path, message: string, allowed: readonly string[] = [], suggestion?: string): Fault {
  return {
    path: formatPath(path),
    message,
    ...(allowed.length === 0 ? {} : { allowed: allowed.join(', ') }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function durationOf(value: unknown): number | null {
  return typeof value === 'string' ? parseDuration(value) : null;
}
