// A program for tests: delivers once to the path it is given, checks it, prints what came of it.
import * as v from 'valibot';
import { fileSink } from '../../../adapters/file/file.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { messageOf } from '../../../src/errors.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const adapter = manageAdapter(
  fileSink.create(v.parse(fileSink.options, JSON.parse(process.argv[2] ?? '')), adapterDeps()),
  'under-test',
);
const never = new AbortController().signal;

const told = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : messageOf(error));
const check = await adapter.check(never).then(() => 'can be reached', told);
const [outcome] = await adapter.deliver([sampleDelivery()], never);
process.stdout.write(JSON.stringify({ check, outcome: outcome instanceof Error ? outcome.message : outcome }));
