// The text of a label selector → why the API server would reject it, or null. Pure.

/** Of one label: a name of at most 63 characters, after an optional DNS name of at most 253. */
const KEY = /^(?:[a-z0-9][-a-z0-9.]{0,252}\/)?(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const VALUE = /^(?=.{0,63}$)(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const FAULT = 'must be a label selector, such as app=web,tier!=db or team in (a,b)';

export function selectorFault(selector: string): string | null {
  return requirementsOf(selector).every(isRequirement) ? null : FAULT;
}

/** Splits a selector at the commas outside of parentheses. */
function requirementsOf(selector: string): readonly string[] {
  const requirements = [''];
  let depth = 0;
  for (const character of selector) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) requirements.push('');
    else requirements[requirements.length - 1] += character;
  }
  return requirements.map((requirement) => requirement.trim());
}

function isRequirement(text: string): boolean {
  if (text.endsWith(')')) return isSet(text.slice(0, -1));
  const at = text.search(/[=!]/);
  if (at <= 0) return KEY.test(text.startsWith('!') ? text.slice(1).trim() : text);
  const operator = ['!=', '==', '='].find((each) => text.startsWith(each, at));
  return operator !== undefined && isKey(text.slice(0, at)) && VALUE.test(text.slice(at + operator.length).trim());
}

/** `KEY in (A,B` or `KEY notin (A,B`. */
function isSet(text: string): boolean {
  const [head = '', values = '', ...more] = text.split('(');
  const [key = '', operator = '', ...others] = head.trim().split(/\s+/);
  const isWhole = more.length === 0 && others.length === 0 && (operator === 'in' || operator === 'notin');
  return isWhole && isKey(key) && values.split(',').every((value) => VALUE.test(value.trim()));
}

function isKey(text: string): boolean {
  return KEY.test(text.trim());
}
