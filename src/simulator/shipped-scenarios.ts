// The folder of shipped scenarios, or a user's file → scripts.
import { open, readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BridgeError, messageOf } from '../errors.ts';
import { boundedBytes } from '../formats/bounded-bytes.ts';
import { formatFault, nearest } from '../schema/faults.ts';
import { type Script, scriptNamed } from './script/script.ts';

/** The same relative path holds in src/simulator/ and in dist/. */
const FOLDER = new URL('./scenarios/', import.meta.url);

const LONGEST_BYTES = 1024 * 1024;

let shipped: Promise<readonly Script[]> | undefined;

/** Returns the shipped scenarios: the demo first, then by name. Reads them once per process. */
export function shippedScenarios(): Promise<readonly Script[]> {
  shipped ??= readShipped();
  return shipped;
}

/** Returns the names of the shipped scenarios, in the same order. */
export async function scenarioNames(): Promise<readonly string[]> {
  return (await shippedScenarios()).map(({ name }) => name);
}

async function readShipped(): Promise<readonly Script[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.yaml'));
  const scripts = await Promise.all(files.map((file) => readScenarioFile(fileURLToPath(new URL(file, FOLDER)))));
  return scripts.sort((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1));
}

function rank({ name }: Script): number {
  return name === 'demo' ? 0 : 1;
}

/**
 * Returns a shipped scenario by its current or former name, or a user's by its path.
 * @throws BridgeError BRIDGE_USAGE for an unknown name that is not a path; otherwise as `readScenarioFile`
 */
export async function findScenario(nameOrPath: string): Promise<Script> {
  const scripts = await shippedScenarios();
  const script = scriptNamed(scripts, nameOrPath);
  if (script) return script;
  if (/[/\\.]/.test(nameOrPath)) return readScenarioFile(nameOrPath);
  const names = await scenarioNames();
  const suggestion = nearest(nameOrPath, names);
  const hint =
    suggestion === undefined
      ? `choose one of ${names.join(', ')}, or give the path of a file, such as ./${nameOrPath}.yaml`
      : `did you mean ${suggestion}?`;
  throw new BridgeError('BRIDGE_USAGE', `there is no scenario "${nameOrPath}"; ${hint}`);
}

/**
 * Reads a scenario. Its name is the file's name without the extension.
 * @throws BridgeError BRIDGE_SIMULATOR_SCENARIO if the file cannot be read, or with all its faults, one per line
 */
async function readScenarioFile(path: string): Promise<Script> {
  const text = decoded(await bytesOf(path), path);
  const { readScenario } = await import('./script/scenario-file.ts');
  const read = readScenario(text, basename(path).replace(/\.ya?ml$/i, ''));
  if ('script' in read) return read.script;
  const count = read.faults.length === 1 ? 'a fault' : `${read.faults.length} faults`;
  throw scenarioError([`the scenario ${path} has ${count}:`, ...read.faults.map(formatFault)].join('\n  '));
}

/** Reads no more than the limit: the file may be a pipe, or endless. */
async function bytesOf(path: string): Promise<Uint8Array> {
  let bytes: Uint8Array | null;
  try {
    await using file = await open(path);
    const stream = file.createReadStream({ autoClose: false });
    bytes = await boundedBytes(stream as AsyncIterable<Uint8Array>, LONGEST_BYTES);
  } catch (error) {
    throw scenarioError(`the scenario ${path} cannot be read: ${messageOf(error)}`, error);
  }
  if (bytes === null) throw scenarioError(`the scenario ${path} is larger than 1 MiB: split it into several scenarios`);
  return bytes;
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw scenarioError(`the scenario ${path} is not UTF-8 text: save it in UTF-8`, error);
  }
}

function scenarioError(message: string, cause?: unknown): BridgeError {
  return new BridgeError('BRIDGE_SIMULATOR_SCENARIO', message, cause === undefined ? {} : { cause });
}
