// Every verb → a run of it with the largest input, beside a bridge that is besieged.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { Program } from '../../support/program.ts';
import { type BridgeFolder, TOKEN } from '../../support/running-bridge.ts';
import { HELD } from '../../whole/full-store/store-content.ts';

const MIB = 1024 * 1024;
/** A verb that runs until it is interrupted is interrupted after this time. */
const STAY_MS = 2000;
const LONGEST_MS = 30_000;
/** Exit codes that a verb documents. */
const CODES = [0, 1, 2, 64, 74, 78];

export interface VerbRun {
  readonly t: TestContext;
  readonly folder: BridgeFolder;
  readonly url: string;
  readonly gate: { readonly endpoint: string };
  /** Whether the bridge still runs. */
  readonly isAlive: () => boolean;
}

/** The inputs that verbs read, each as large as its bound allows. */
interface Inputs extends VerbRun {
  readonly largeConfig: string;
  readonly largeEvents: string;
  readonly largeScenario: string;
  readonly deepYaml: string;
}

interface Trial {
  readonly args: (inputs: Inputs) => readonly string[];
  /** It ends only by a signal. */
  readonly stays?: boolean;
}

const at = ({ url }: Inputs) => ['--bridge', url, '--token-env', 'TOKEN'];
const configured = ({ folder }: Inputs) => ['--config', folder.config];

/** By the name of the verb; each verb of the list in the code has a row. */
export const VERB_TRIALS: Readonly<Record<string, readonly Trial[]>> = {
  run: [{ args: ({ largeConfig }) => ['--config', largeConfig] }, { args: ({ deepYaml }) => ['--config', deepYaml] }],
  init: [{ args: ({ gate }) => ['--endpoint', gate.endpoint, ...Array(200).fill(['--approver', 'a']).flat()] }],
  demo: [{ args: () => [], stays: true }],
  simulate: [{ args: ({ largeScenario }) => ['--listen', '127.0.0.1:0', '--scenario', largeScenario], stays: true }],
  check: [{ args: ({ largeConfig }) => ['--config', largeConfig] }, { args: ({ deepYaml }) => ['--config', deepYaml] }],
  events: [{ args: ({ gate }) => ['--endpoint', gate.endpoint, '--count', '3'], stays: true }],
  approve: [{ args: (inputs) => [...Array.from({ length: 300 }, (_, index) => `e${index}`), '--yes', ...at(inputs)] }],
  explain: [{ args: (inputs) => [HELD, ...at(inputs)] }],
  hold: [{ args: (inputs) => [HELD, '--reason', 'r'.repeat(1000), ...at(inputs)] }],
  release: [{ args: (inputs) => [HELD, ...at(inputs)] }],
  policy: [{ args: (inputs) => ['test', ...configured(inputs), '--event', inputs.largeEvents] }],
  'dead-letters': [{ args: (inputs) => ['show', ...configured(inputs)] }],
  replay: [{ args: (inputs) => ['--sink', 'audit', '--since', '30d', ...configured(inputs)] }],
  pause: [{ args: (inputs) => ['s'.repeat(5000), ...at(inputs)] }],
  resume: [{ args: (inputs) => ['nobody', ...at(inputs)] }],
  reload: [{ args: at }],
  health: [{ args: at }],
  drill: [
    { args: (inputs) => ['--resources', 'v,'.repeat(3000), '--notice', '1s', '--yes', ...at(inputs)], stays: true },
  ],
  status: [{ args: (inputs) => ['--all', ...at(inputs)] }, { args: (inputs) => ['--all', ...configured(inputs)] }],
  top: [{ args: at, stays: true }],
  tail: [
    { args: (inputs) => ['--since', '30d', ...at(inputs)], stays: true },
    { args: (inputs) => ['--since', '30d', ...configured(inputs)], stays: true },
  ],
  secret: [{ args: ({ largeConfig }) => ['--public', largeConfig] }],
  completion: [{ args: () => ['bash'] }],
};

/** Runs each verb at least once, one after the other; resolves with what was not as promised. */
export async function runVerbs(run: VerbRun): Promise<readonly string[]> {
  const inputs = { ...run, ...largestInputs(dirname(run.folder.config)) };
  const failures: string[] = [];
  for (const [verb, trials] of Object.entries(VERB_TRIALS))
    for (const trial of trials) {
      const args = [verb, ...trial.args(inputs)];
      const program = new Program(args, { env: { TOKEN }, cwd: dirname(run.folder.config), stdio: 'ignore' });
      run.t.after(() => program.hasEnded || program.end('SIGKILL'));
      const stay = setTimeout(() => program.child.kill('SIGINT'), trial.stays ? STAY_MS : LONGEST_MS);
      const kill = setTimeout(() => program.child.kill('SIGKILL'), LONGEST_MS + STAY_MS);
      const { code, signal } = await program.ended();
      clearTimeout(stay);
      clearTimeout(kill);
      const isInterrupted = trial.stays && (signal === 'SIGINT' || code === 130);
      if (!isInterrupted && !CODES.includes(code ?? -1))
        failures.push(`${args.join(' ').slice(0, 80)} ended with ${code ?? signal}`);
      if (!run.isAlive()) return [...failures, `the bridge ended beside ${args.join(' ').slice(0, 80)}`];
    }
  return failures;
}

function largestInputs(folder: string): Pick<Inputs, 'largeConfig' | 'largeEvents' | 'largeScenario' | 'deepYaml'> {
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const event = { EventId: 'e', EventStatus: 'Scheduled', EventType: 'Reboot', Resources: ['vm'] };
  const events = Array.from({ length: 40_000 }, (_, index) => JSON.stringify({ ...event, EventId: `e${index}` }));
  const sinks = Array.from({ length: 20_000 }, (_, index) => `  s${index}: { type: nothing }`);
  return {
    largeConfig: file('large.yaml', `version: 1\nsinks:\n${sinks.join('\n')}\n`.slice(0, MIB)),
    deepYaml: file('deep.yaml', '['.repeat(MIB / 4)),
    largeEvents: file('events.json', `{"DocumentIncarnation":1,"Events":[${events.join(',')}]}`.slice(0, 4 * MIB)),
    largeScenario: file('scenario.yaml', `name: large\nsteps:\n${'  - { at: 1s }\n'.repeat(60_000)}`),
  };
}
