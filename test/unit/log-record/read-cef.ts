// A line of CEF → its fields, strictly by version 0.
import assert from 'node:assert/strict';
import { toCef } from '../../../src/log-record/cef.ts';
import type { LogRecord } from '../../../src/log-record/log-record.ts';

export const HEADER = ['version', 'vendor', 'product', 'deviceVersion', 'signature', 'name', 'severity'];

/** The header ends at the seventh bar; a key is a word before an equals sign without a backslash. */
export function parseCef(line: string): ReadonlyMap<string, string> {
  const header: [string, string][] = [];
  let rest = line;
  for (const name of HEADER) {
    const [whole, value = ''] = /^((?:[^\\|]|\\[\\|])*)\|/.exec(rest) ?? assert.fail(`the header has no ${name}`);
    header.push([name, value.replaceAll(/\\([\\|])/g, '$1')]);
    rest = rest.slice(whole.length);
  }
  const extension = rest.split(/ (?=[A-Za-z0-9]+=)/).map((field): [string, string] => {
    const [, key = '', value = ''] =
      /^(\w+)=((?:[^\\=]|\\[\\=nr])*)$/s.exec(field) ?? assert.fail(`no field: ${field}`);
    return [key, value.replaceAll(/\\([\\=nr])/g, (_, escaped: string) => ({ n: '\n', r: '\r' })[escaped] ?? escaped)];
  });
  assert.equal(new Set(extension.map(([key]) => key)).size, extension.length);
  return new Map([...header, ...extension]);
}

/** Keys with their labels: `cs1 (source)`. */
export function readCef(record: LogRecord): ReadonlyMap<string, string> {
  const fields = parseCef(toCef(record));
  const name = (key: string) => (fields.has(`${key}Label`) ? `${key} (${fields.get(`${key}Label`)})` : key);
  return new Map([...fields].filter(([key]) => !key.endsWith('Label')).map(([key, value]) => [name(key), value]));
}
