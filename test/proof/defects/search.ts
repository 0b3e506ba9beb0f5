// A copy with a defect → whether the part of the proof that its patch names finds it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FirstFinding } from './first-finding.ts';
import type { DefectPatch } from './patches.ts';

/** A search that takes longer hangs. */
const LONGEST_MS = 15 * 60_000;

export interface SearchResult {
  readonly isFound: boolean;
  /** What was found after how much work, or why nothing was. */
  readonly how: string;
}

/** @param folder a copy of the sources that has the defect */
export function search({ search: wanted }: DefectPatch, folder: string): Promise<SearchResult> {
  return wanted.by === 'simulation' ? searchHistories(wanted, folder) : searchPart(wanted, folder);
}

type Search<By> = Extract<DefectPatch['search'], { readonly by: By }>;

async function searchHistories(wanted: Search<'simulation'>, folder: string): Promise<SearchResult> {
  const { seed, maintenances: most, fault } = wanted;
  const program = join('test', 'proof', 'defects', 'first-finding.ts');
  const { status, stdout, stderr } = await node([program, `${seed}`, `${most}`, fault], folder);
  if (status !== 0) return { isFound: false, how: `the histories of seed ${seed} could not be played: ${stderr}` };
  const { histories, maintenances, what, others } = JSON.parse(lastLineOf(stdout)) as FirstFinding;
  const work = `${histories} histories of seed ${seed} with ${maintenances} maintenances`;
  if (what !== null) return { isFound: true, how: `found after ${work} as ${fault}: ${what}` };
  const rest = Object.entries(others).map(([name, example]) => `${name}: ${example}`);
  return {
    isFound: false,
    how: `not found as ${fault} in ${work}${rest.length > 0 ? `, but ${rest.join('; ')}` : ''}`,
  };
}

async function searchPart({ part, fault, seed, options }: Search<'part'>, folder: string): Promise<SearchResult> {
  const command = ['--parts', part, '--seed', `${seed}`, ...options];
  const { status, stdout, stderr } = await node([join('test', 'proof', 'proof.ts'), ...command], folder);
  const counted = fault === null ? null : new RegExp(`^proof .* ${fault}=([1-9]\\d*) `, 'm').exec(stdout);
  const isFound = fault === null ? stdout.includes(`${part}: FAILED`) : counted !== null;
  const how = `${isFound ? 'found by' : 'not found by'} ${command.join(' ')}${fault === null ? '' : ` as ${fault}`}`;
  if (isFound) return { isFound, how };
  return { isFound, how: `${how}: it ended with ${status}, ${lastLineOf(stdout)} ${stderr}` };
}

async function node(
  argv: readonly string[],
  folder: string,
): Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }> {
  // Under a test runner, a test would report to that one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, argv, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
  });
  const status = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, stdout, stderr };
}

function lastLineOf(output: string): string {
  return output.trimEnd().split('\n').at(-1) ?? '';
}
