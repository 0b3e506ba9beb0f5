// The kind `command`: options → an adapter that runs a program for each CloudEvent.
import type { AdapterDefinition } from '../adapter.ts';
import { CommandAdapter } from './command-adapter.ts';
import { approverOf, type CommandOptions, commandOptions, secretFaults } from './command-options.ts';

/** A delivery is accepted when its program has ended with 0. */
export const command: AdapterDefinition<CommandOptions> = {
  type: 'command',
  options: commandOptions(process.platform),
  secretFaults,
  isLocal: true,
  approverOf,
  cancels: ({ cancel }) => cancel,
  create: (options, deps) => new CommandAdapter(options, deps),
};
