// The kind `stdout`: options → an adapter that prints CloudEvents as NDJSON.
import * as v from 'valibot';
import type { AdapterDefinition } from '../adapter.ts';
import { StdoutAdapter } from './stdout-adapter.ts';

const options = v.strictObject({
  type: v.pipe(v.optional(v.literal('stdout')), v.description('The kind of sink.')),
});

export type StdoutOptions = v.InferOutput<typeof options>;

/** Structured CloudEvents, one JSON object a line, on standard output. It has no options. */
export const stdout: AdapterDefinition<StdoutOptions> = {
  type: 'stdout',
  options,
  create: (_options, deps) => new StdoutAdapter(deps),
};
