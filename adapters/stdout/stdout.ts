// The sink type `stdout`: options → an adapter that prints CloudEvents as NDJSON.
import * as v from 'valibot';
import type { AdapterDefinition } from '../adapter.ts';
import { StdoutAdapter } from './stdout-adapter.ts';

const options = v.strictObject({
  type: v.pipe(v.optional(v.literal('stdout')), v.description('The kind of sink.')),
});

type StdoutOptions = v.InferOutput<typeof options>;

/** Defines the sink type `stdout`: structured CloudEvents on standard output, one JSON object for each line. It has no options. */
export const stdout: AdapterDefinition<StdoutOptions> = {
  type: 'stdout',
  options,
  create: (_options, deps) => new StdoutAdapter(deps),
};
