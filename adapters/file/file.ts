// The kind `file`: options → an adapter that appends CloudEvents to a file, one a line.
import type { AdapterDefinition } from '../adapter.ts';
import { FileAdapter } from './file-adapter.ts';
import { type FileOptions, fileOptions, filesOf } from './file-options.ts';

/** A line is accepted once it is flushed to disk. */
export const file: AdapterDefinition<FileOptions> = {
  type: 'file',
  options: fileOptions,
  filesOf,
  create: (options, deps) => new FileAdapter(options, deps),
};
