// `policy test`: a configuration and events → which rule decides each, when and why.
import { open } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import { parseInstant } from '../formats/dates.ts';
import { API_VERSIONS } from '../model/api-versions.ts';
import type { Script } from '../simulator/script/script.ts';
import { findScenario, shippedScenarios } from '../simulator/shipped-scenarios.ts';
import { loadConfig } from './config.ts';
import { compileDecision, reportLines } from './policy-decision.ts';
import { readEvents, type Sighting, sightings } from './policy-events.ts';
import { machinesOption } from './simulate-options.ts';
import { EXIT, needed, optionText, usageError, type Verb, type VerbContext } from './verb.ts';

const LONGEST_BYTES = 4 * 1024 * 1024;

export const policyVerb: Verb = {
  usage: 'test --config FILE [--event FILE | --scenario NAME|FILE] [--at TIME]',
  takesWords: true,
  words: ['test'],
  description: `Shows for each event which rule of approvals.policy decides, when, and why no earlier rule matches. Sends no request.
--event takes JSON: one event as the metadata service lists it, its document, or a CloudEvent of this bridge, which is evaluated at its own time.
--scenario plays a scenario of the simulator in virtual time without approvals, and shows the decision after each change. Without either: plays all shipped scenarios.
With windows and budgets in the policy, it also shows when each event would be approved, in which window, and what holds it back: an event counts in a budget when it is Started, or from the moment at which a rule approves it.
Prints NDJSON if standard output is not a terminal.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration, with its policy' },
    event: { type: 'string', value: 'FILE', help: 'the event, or - for standard input' },
    scenario: {
      type: 'string',
      value: 'NAME|FILE',
      help: 'the scenario to play; `simulate --list` lists the shipped ones',
    },
    at: {
      type: 'string',
      value: 'TIME',
      help: 'evaluates the event at this time, or begins the scenario then (RFC 3339; default: now, and 2026-01-01)',
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
      'scheduled-events-bridge policy test --config bridge.yaml --scenario redeploy --vms 3 --name web',
      'for web_0, web_1 and web_2',
    ],
    [
      'scheduled-events-bridge policy test --config bridge.yaml --scenario busy-month --at 2026-03-20T00:00:00Z',
      'when a month of events is approved, with the change to summer time',
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
    const wanted = machinesOption(context);
    const startMs = timeOption(context);
    const config = await loadConfig(context, needed(context, 'config'));
    if (file !== undefined) await judgeFile(context, config, file, startMs);
    else {
      const scripts = scenario === undefined ? await shippedScenarios() : [await findScenario(scenario)];
      for (const script of scripts)
        await judgeScenario(context, config, script, sightings(script, wanted, apiVersionOf(config), startMs));
    }
    return EXIT.fine;
  },
};

/** `newest` is the newest known one here, because no service is asked. */
function apiVersionOf({ metadata }: Config): string {
  return metadata.apiVersion === 'newest' ? API_VERSIONS[0] : metadata.apiVersion;
}

/** @throws BridgeError BRIDGE_USAGE */
function timeOption(context: VerbContext): number | undefined {
  const text = optionText(context, 'at');
  if (text === undefined) return undefined;
  const atMs = parseInstant(text);
  if (atMs === null) throw usageError(`--at must be a time such as 2026-11-24T22:00:00Z, not "${text}"`);
  return atMs;
}

async function judgeFile(context: VerbContext, config: Config, file: string, startMs?: number): Promise<void> {
  const name = file === '-' ? 'standard input' : file;
  const { events, atMs: ownMs } = readEvents(await bytesOf(context, file, name), name, apiVersionOf(config));
  const atMs = startMs ?? ownMs ?? context.deps.wallMs();
  const decisions = compileDecision(config.approvals)([{ atMs, listed: events, events }]);
  if (!context.stdout.isTTY) for (const decision of decisions) await context.print(JSON.stringify(decision));
  else
    for (const line of decisions.length > 0 ? reportLines(decisions) : [`${name} lists no events`])
      await context.print(line);
}

async function judgeScenario(
  context: VerbContext,
  config: Config,
  script: Script,
  seen: Iterable<Sighting>,
): Promise<void> {
  const decisions = compileDecision(config.approvals)(seen);
  if (!context.stdout.isTTY)
    for (const decision of decisions) await context.print(JSON.stringify({ scenario: script.name, ...decision }));
  else
    for (const line of [`${script.name}: ${script.purpose}`, ...reportLines(decisions), '']) await context.print(line);
}

/** Reads a file, which may be a pipe. @throws BridgeError BRIDGE_USAGE if it cannot be read or is longer than 4 MiB */
async function bytesOf({ stdin }: VerbContext, file: string, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    await using handle = file === '-' ? null : await open(file);
    for await (const chunk of (handle?.createReadStream({ autoClose: false }) ?? stdin) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LONGEST_BYTES) break;
    }
  } catch (error) {
    throw usageError(`--event: ${name} cannot be read: ${messageOf(error)}`, error);
  }
  if (length > LONGEST_BYTES)
    throw usageError(`--event: ${name} is longer than 4 MiB: that is not a document of the metadata service`);
  return Buffer.concat(chunks);
}
