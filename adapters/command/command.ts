// The kind `command`: options → an adapter that runs a program for each CloudEvent.
import type { AdapterDefinition, LeftBehindDeps } from '../adapter.ts';
import { CommandAdapter } from './command-adapter.ts';
import { approverOf, type CommandOptions, commandOptions, secretFaults } from './command-options.ts';
import { FormerRuns } from './former-runs.ts';
import { groupSystem, WINDOWS_FOLDER } from './process-group.ts';
import { Processes } from './processes.ts';
import { programFiles } from './program-files.ts';
import { RunNotes } from './run-notes.ts';

/** A delivery is accepted when its program ends with exit code 0. */
export const command: AdapterDefinition<CommandOptions> = {
  type: 'command',
  options: commandOptions(process.platform),
  secretFaults,
  decisiveFiles: (options, around) => programFiles(options, around, process.platform),
  isLocal: true,
  approverOf,
  cancels: ({ cancel }) => cancel,
  endLeftBehind: (deps) => formerRuns(deps).endAll(),
  create: (options, deps) => new CommandAdapter(options, deps),
};

function formerRuns(deps: LeftBehindDeps): FormerRuns {
  return new FormerRuns(new RunNotes(deps.notes, deps.random), groupSystem(process.platform, new Processes(), WINDOWS_FOLDER), deps);
}
