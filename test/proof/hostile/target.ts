// A part of the product that reads what others wrote → its samples, its call, and how it is judged.
import { BridgeError } from '../../../src/errors.ts';
import type { Fault } from '../part.ts';
import type { Material } from './generate.ts';

/** The kinds of hostile input that the proof names. */
export const KINDS = [
  'document',
  'configuration',
  'body',
  'broker message',
  'answer of a far side',
  'answer of Kubernetes',
  'syslog and log line',
  'stream',
] as const;

/** What is wrong, in words; with the count of the proof that it belongs to, if there is one. Null: nothing. */
export type Verdict = string | { readonly why: string; readonly fault: Fault } | null;

export interface Target {
  /** Its name in kept cases. */
  readonly name: string;
  readonly kind: (typeof KINDS)[number];
  readonly material: Material;
  /** Calls the product. May throw what `allows` allows. */
  readonly run: (input: Buffer) => unknown;
  /** Whether an error is a documented answer; a BridgeError by default. */
  readonly allows?: (error: unknown) => boolean;
  /**
   * Judges what `run` returned by the input alone, without the product's code. Returns what is wrong, or null. A
   * sample that is not changed must pass, too.
   */
  readonly judge?: (input: Buffer, output: unknown) => Verdict;
  /** Judges an error that is allowed: for example, a good document must not be refused. */
  readonly judgeError?: (input: Buffer, error: unknown) => Verdict;
}

export const isBridgeError = (error: unknown): boolean => error instanceof BridgeError;

/** Every text in a value, also names of members. */
export function textsIn(value: unknown, found: string[] = []): string[] {
  const rest: unknown[] = [value];
  for (let next = rest.pop(); rest.length > 0 || next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') found.push(next);
    else if (typeof next === 'object' && next !== null) rest.push(...Object.keys(next), ...Object.values(next));
  }
  return found;
}

/** The input's JSON, or undefined. */
export function jsonOf(input: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(input));
  } catch {
    return undefined;
  }
}

export const lost = (why: string): Verdict => ({ why, fault: 'lost' });
export const invented = (why: string): Verdict => ({ why, fault: 'invented' });
export const altered = (why: string): Verdict => ({ why, fault: 'altered' });

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
