// Windows, budgets and rules → faults and warnings that involve more than one key.
import { hasZoneData } from '../formats/zoned-time.ts';
import { type Fault, formatPath, nearest } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';

/** A key of a rule → the section of `approvals` that defines its names. */
const SECTION_OF = { during: 'windows', budgets: 'budgets' } as const;

type Key = keyof typeof SECTION_OF;

/**
 * Names that are not defined, definitions that no rule names, and windows on a Node that cannot compute their times.
 * @param file `approvals` as written, so that an invalid key is not reported a second time
 * @param isComplete whether Node has the data of all time zones
 */
export function windowFaults(file: unknown, isComplete: () => boolean = hasZoneData): Fault[] {
  const approvals = isMapping(file) ? file : {};
  return [
    ...Object.keys(SECTION_OF).flatMap((key) => nameFaults(approvals, key as Key)),
    ...(namesIn(approvals, 'windows').length === 0 || isComplete() ? [] : [NO_ZONE_DATA]),
  ];
}

const NO_ZONE_DATA: Fault = {
  path: 'approvals.windows',
  message:
    'cannot be used, because this Node.js has no full time-zone data: install Node.js with full ICU, as nodejs.org builds it, or remove the windows',
};

function nameFaults(approvals: Readonly<Record<string, unknown>>, key: Key): Fault[] {
  const section = SECTION_OF[key];
  const defined = namesIn(approvals, section);
  const named = namedBy(approvals['policy'], key);
  const unknown = named.filter(({ name }) => !defined.includes(name));
  const used = new Set(named.map(({ name }) => name));
  return [
    ...unknown.map(({ name, rule, index }) => {
      const suggestion = nearest(name, defined);
      return {
        path: formatPath(['approvals', 'policy', rule, key, index]),
        message: `is not a name in approvals.${section}`,
        ...(suggestion === undefined ? {} : { suggestion }),
      };
    }),
    ...(hasKnownRules(approvals['policy']) ? defined : [])
      .filter((name) => !used.has(name))
      .map((name) => ({
        path: formatPath(['approvals', section, name]),
        message: `is used by no rule: name it in ${key} of a rule in approvals.policy, or remove it`,
      })),
  ];
}

/** Whether `policy` says which names its rules use. If it is neither a list nor a preset, it has a fault already. */
function hasKnownRules(policy: unknown): boolean {
  return policy === undefined || typeof policy === 'string' || Array.isArray(policy);
}

function namedBy(policy: unknown, key: Key) {
  return (Array.isArray(policy) ? policy : []).flatMap((rule: unknown, position) => {
    const names = isMapping(rule) ? rule[key] : undefined;
    return (Array.isArray(names) ? names : []).flatMap((name: unknown, index) =>
      typeof name === 'string' ? [{ name, rule: position, index }] : [],
    );
  });
}

function namesIn(approvals: Readonly<Record<string, unknown>>, section: (typeof SECTION_OF)[Key]): readonly string[] {
  const value = approvals[section];
  return isMapping(value) ? Object.keys(value) : [];
}
