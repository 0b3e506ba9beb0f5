// A subscription's rule and a message → whether it is kept; of SQL, comparisons joined by AND.
import type { AmqpMessage } from './amqp-message.ts';

/**
 * `all`, `none`, or application properties and system properties (`sys.Label`, `sys.MessageId` …) that must have these
 * values.
 */
export type Rule =
  | 'all'
  | 'none'
  | { readonly sql: string }
  | { readonly equals: Readonly<Record<string, string | number | boolean>> };

const SYSTEM: Readonly<Record<string, string>> = {
  label: 'subject',
  subject: 'subject',
  messageid: 'message-id',
  correlationid: 'correlation-id',
  contenttype: 'content-type',
  sessionid: 'group-id',
  to: 'to',
  replyto: 'reply-to',
};

type Comparison = (message: AmqpMessage) => boolean;

/** @throws Error on SQL that is not read here */
export function matches(rule: Rule, message: AmqpMessage): boolean {
  if (rule === 'all') return true;
  if (rule === 'none') return false;
  const comparisons =
    'sql' in rule ? readSql(rule.sql) : Object.entries(rule.equals).map(([name, value]) => compare(name, '=', value));
  return comparisons.every((comparison) => comparison(message));
}

/** @throws Error on SQL that is not read here */
export function readSql(sql: string): Comparison[] {
  return sql.split(/\s+AND\s+/i).map((part) => {
    const constant = /^\s*1\s*=\s*([01])\s*$/.exec(part);
    if (constant) return () => constant[1] === '1';
    const read =
      /^\s*(\[[^\]]+\]|"[^"]+"|[A-Za-z_][\w.]*)\s*(=|<>|!=|LIKE)\s*('(?:[^']|'')*'|-?\d+|TRUE|FALSE)\s*$/i.exec(part);
    if (!read?.[1] || !read[2] || !read[3]) throw new Error(`this server does not read the filter: ${sql}`);
    return compare(read[1].replace(/^[["]|[\]"]$/g, ''), read[2].toUpperCase(), literal(read[3]));
  });
}

function compare(name: string, operator: string, wanted: string | number | boolean): Comparison {
  return (message) => {
    const found = readValue(name, message);
    if (found === undefined || found === null) return false;
    if (operator === 'LIKE') return like(String(wanted)).test(String(found));
    return (operator === '=') === (found === wanted);
  };
}

function readValue(name: string, { properties, applicationProperties }: AmqpMessage): unknown {
  const system = /^sys\.(.+)$/i.exec(name)?.[1];
  if (system !== undefined) return properties[SYSTEM[system.toLowerCase()] ?? system]?.value;
  const key = Object.keys(applicationProperties).find(
    (property) => property.toLowerCase() === name.replace(/^user\./i, '').toLowerCase(),
  );
  return key === undefined ? undefined : applicationProperties[key]?.value;
}

function literal(text: string): string | number | boolean {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : Number(text);
}

function like(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('%', '[\\s\\S]*').replaceAll('_', '[\\s\\S]')}$`);
}
