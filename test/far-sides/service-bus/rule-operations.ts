// Management requests about a subscription's rules: added and removed; they are not listed.
import { member, OK, type Operation, refusal } from './operation.ts';
import { type Rule, readSql } from './rules.ts';

const addRule: Operation = ({ broker, place, fields }) => {
  const rules = broker.namespace.node(place.path)?.subscription?.rules;
  const name = String(fields['rule-name']?.value);
  if (!rules) return refusal('notFound', place);
  if (rules.has(name)) {
    const description = `The messaging entity '${place.path}/Rules/${name}' already exists.`;
    return { status: 409, condition: 'com.microsoft:entity-already-exists', description };
  }
  const sql = String(member(member(fields['rule-description'], 'sql-filter'), 'expression')?.value);
  try {
    readSql(sql);
  } catch (error) {
    return { status: 400, condition: 'com.microsoft:argument-error', description: String(error) };
  }
  rules.set(name, { sql } satisfies Rule);
  return OK;
};

const removeRule: Operation = ({ broker, place, fields }) => {
  const rules = broker.namespace.node(place.path)?.subscription?.rules;
  return rules?.delete(String(fields['rule-name']?.value)) ? OK : refusal('notFound', place);
};

export const RULE_OPERATIONS: Readonly<Record<string, Operation>> = { 'add-rule': addRule, 'remove-rule': removeRule };
