// A folder and how many files to keep → a file sink on it, as the bridge makes it.
import * as v from 'valibot';
import type { Adapter } from '../../../../adapters/adapter.ts';
import { fileSink } from '../../../../adapters/file/file.ts';
import { adapterDeps } from '../../../adapters/adapter-deps.ts';

/** @param keep 0: without rotation */
export function fileSinkIn(directory: string, keep: number): Adapter {
  const rotate = keep === 0 ? {} : { rotate: { size: '4KiB', keep } };
  return fileSink.create(v.parse(fileSink.options, { path: 'events.ndjson', ...rotate }), adapterDeps({ directory }));
}
