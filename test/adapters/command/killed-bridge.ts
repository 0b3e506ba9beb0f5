// A folder with a program and a file for notes → one delivery in a process that is to be killed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { commandSink } from '../../../adapters/command/command.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const [, , folder = ''] = process.argv;
const write = (seq: number, text: string | null) =>
  writeFileSync(join(folder, 'notes'), JSON.stringify([{ seq, text }]));
const deps = adapterDeps({ directory: folder, notes: { all: () => [], write } });
const options = v.parse(commandSink.options, { run: [join(folder, 'run')], directory: '.' });
await commandSink.create(options, deps).deliver([sampleDelivery()], new AbortController().signal);
