// `policy test`: a configuration and events → which rule decides each, when and why.
import { open } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import { boundedBytes } from '../formats/bounded-bytes.ts';
import { parseInstant } from '../formats/dates.ts';
import { API_VERSIONS } from '../model/api-versions.ts';
import type { Script } from '../simulator/script/script.ts';
import { findScenario, scenarioNames, shippedScenarios } from '../simulator/shipped-scenarios.ts';
import { loadConfig } from './config.ts';
import type { Judged } from './policy/decision.ts';
import { type PlayOptions, readEvents, START_MS } from './policy/events.ts';
import { decisionsIn, decisionsOn } from './policy/play.ts';
import { reportLines } from './policy/text.ts';
import { machinesOption } from './simulate-options.ts';
import { EXIT, needed, optionText, usageError, type Verb, type VerbContext } from './verb.ts';

const LONGEST_BYTES = 4 * 1024 * 1024;

export const policyVerb: Verb = {
  usage: 'test --config FILE [--event FILE | --scenario NAME|FILE] [--at TIME]',
  takesWords: true,
  words: ['test'],
  description: `Shows for each event which rule of approvals.policy decides, when, and why no earlier rule matches. Sends no request.
--event takes JSON: one event as the metadata service lists it, its document, or a CloudEvent of this bridge, which is evaluated at its own time. The events of a document are decided together.
--scenario plays a scenario of the simulator in virtual time without approvals, and shows the decision after each change. Windows and budgets decide over that time. Without either: plays all shipped scenarios.
On a terminal, a table of event, window, moment and budget follows. Prints NDJSON if standard output is not a terminal.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration, with its policy' },
    event: { type: 'string', value: 'FILE', help: 'the event, or - for standard input' },
    scenario: {
      type: 'string',
      value: 'NAME|FILE',
      help: 'the scenario to play; `simulate --list` lists the shipped ones',
      names: scenarioNames,
    },
    at: {
      type: 'string',
      value: 'TIME',
      help: 'starts the scenario, or judges the file, at this RFC 3339 time (default: 2026-01-01T00:00:00Z; for a file, now)',
    },
    vms: { type: 'string', value: 'N', help: 'the number of machines (default: as in the scenario)' },
    name: {
      type: 'string',
      value: 'NAME',
      help: 'names them NAME_0, NAME_1, …; without --vms, the name of the only machine',
    },
  },
  examples: [
    ['scheduled-events-bridge policy test --config bridge.yaml', 'what the policy decides in all scenarios'],
    ['scheduled-events-bridge policy test --config bridge.yaml --scenario rescheduled', 'in one scenario'],
    [
      'scheduled-events-bridge policy test --config bridge.yaml --scenario busy-month --at 2026-03-15T00:00:00Z',
      'a month with windows and budgets, from 15 March',
    ],
    [
      'scheduled-events-bridge policy test --config bridge.yaml --scenario redeploy --vms 3 --name web',
      'for web_0, web_1 and web_2',
    ],
    [
      'scheduled-events-bridge events | scheduled-events-bridge policy test --config bridge.yaml --event -',
      'for the events that Azure lists now',
    ],
  ],
  async run(context) {
    const [word, ...more] = context.positionals;
    if (word !== 'test' || more.length > 0) {
      const given = word === undefined ? '' : `, not "${context.positionals.join(' ')}"`;
      throw usageError(`policy takes the word test${given}`);
    }
    const file = optionText(context, 'event');
    const scenario = optionText(context, 'scenario');
    if (file !== undefined && scenario !== undefined)
      throw usageError('--event and --scenario exclude each other: give one of them');
    const unusable = ['vms', 'name'].find((name) => file !== undefined && optionText(context, name) !== undefined);
    if (unusable !== undefined) throw usageError(`--${unusable} is for scenarios and cannot be used with --event`);
    const machines = machinesOption(context);
    const atMs = atOption(context);
    const config = await loadConfig(context, needed(context, 'config'));
    const apiVersion = apiVersionOf(config);
    if (file !== undefined) await judgeFile(context, config, { file, apiVersion, atMs });
    else {
      const scripts = scenario === undefined ? await shippedScenarios() : [await findScenario(scenario)];
      const play = { machines, apiVersion, startMs: atMs ?? START_MS };
      for (const script of scripts) await judgeScenario(context, config, script, play);
    }
    return EXIT.fine;
  },
};

/** The first second and the first that is too late: no event, window or rest goes beyond the year 9999. */
const TIMES = { firstMs: Date.UTC(1970, 0, 1), endMs: Date.UTC(9000, 0, 1) };

/** @returns milliseconds since 1970 @throws BridgeError BRIDGE_USAGE */
function atOption(context: VerbContext): number | undefined {
  const value = optionText(context, 'at');
  if (value === undefined) return undefined;
  const ms = parseInstant(value);
  if (ms === null)
    throw usageError(`--at takes RFC 3339 with seconds and a zone, such as 2026-11-21T10:00:00Z, not "${value}"`);
  if (ms < TIMES.firstMs || ms >= TIMES.endMs)
    throw usageError(`--at takes a time from the years 1970 to 8999, not "${value}"`);
  return ms;
}

/** `newest` is the newest known one here, because no service is asked. */
function apiVersionOf({ metadata }: Config): string {
  return metadata.apiVersion === 'newest' ? API_VERSIONS[0] : metadata.apiVersion;
}

interface JudgedFile {
  readonly file: string;
  readonly apiVersion: string;
  /** `--at`. Default: the time of a CloudEvent, otherwise now. */
  readonly atMs: number | undefined;
}

async function judgeFile(
  context: VerbContext,
  { approvals }: Config,
  { file, apiVersion, atMs }: JudgedFile,
): Promise<void> {
  const name = file === '-' ? 'standard input' : file;
  const given = readEvents(await bytesOf(context, file, name), name, apiVersion);
  const judged = decisionsOn(given.events, approvals, atMs ?? given.atMs ?? context.deps.wallMs());
  if (!context.stdout.isTTY) for (const { decision } of judged) await context.print(JSON.stringify(decision));
  else
    for (const line of judged.length > 0 ? reportLines(judged) : [`${name} lists no events`]) await context.print(line);
}

async function judgeScenario(
  context: VerbContext,
  { approvals }: Config,
  script: Script,
  play: PlayOptions,
): Promise<void> {
  const judged: readonly Judged[] = [...decisionsIn(script, approvals, play)];
  if (!context.stdout.isTTY)
    for (const { decision } of judged) await context.print(JSON.stringify({ scenario: script.name, ...decision }));
  else for (const line of [`${script.name}: ${script.purpose}`, ...reportLines(judged), '']) await context.print(line);
}

/** Reads a file, which may be a pipe. @throws BridgeError BRIDGE_USAGE if it cannot be read or is longer than 4 MiB */
async function bytesOf({ stdin }: VerbContext, file: string, name: string): Promise<Uint8Array> {
  let bytes: Uint8Array | null;
  try {
    await using handle = file === '-' ? null : await open(file);
    const stream = handle?.createReadStream({ autoClose: false }) ?? stdin;
    bytes = await boundedBytes(stream as AsyncIterable<Uint8Array>, LONGEST_BYTES);
  } catch (error) {
    throw usageError(`--event: ${name} cannot be read: ${messageOf(error)}`, error);
  }
  if (bytes === null)
    throw usageError(`--event: ${name} is longer than 4 MiB: that is not a document of the metadata service`);
  return bytes;
}
