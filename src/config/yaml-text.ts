// YAML 1.2 text → plain data, or what keeps it from being read, with line and column. Heavy: import it lazily.
import { LineCounter, parseDocument } from 'yaml';
import { messageOf } from '../errors.ts';
import type { Fault } from './faults.ts';

/** Duplicate keys, tags, several documents and aliases that multiply are faults. */
export function parseYaml(text: string): { readonly value: unknown } | { readonly faults: readonly Fault[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.2', lineCounter: lines, prettyErrors: false, stringKeys: true });
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    return {
      faults: problems.map(({ pos, code, message }) => {
        const { line, col } = lines.linePos(pos[0]);
        return {
          path: `line ${line}, column ${col}`,
          message: code === 'DUPLICATE_KEY' ? 'the same key stands twice in one mapping' : message,
        };
      }),
    };
  }
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { faults: [{ path: '', message: `the configuration is no usable YAML: ${messageOf(error)}` }] };
  }
}
