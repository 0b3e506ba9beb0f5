// pom.xml → Kafka's jars, fetched once by Maven into the user's cache, or why there are none.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const POM = join(import.meta.dirname, 'pom.xml');
const LOG4J = join(import.meta.dirname, 'log4j2.properties');
/** What a 4.x broker needs. */
const LEAST_JAVA = 17;

/** Why no broker can be started here, in words for the `skip` of a test; false where one can. */
export function noDistribution(): string | false {
  const version = javaVersion();
  if (version === undefined) return 'there is no Java: install a JRE of version 17 or newer';
  if (version < LEAST_JAVA) return `Java is ${version}: Kafka needs version ${LEAST_JAVA} or newer`;
  if (!existsSync(folder()) && !onPath('mvn')) return 'there is no Maven to fetch Kafka with: install maven';
  return false;
}

/** Starts the download where there is none yet; several processes may do so at once. @returns what precedes the class and its arguments */
export async function javaArguments(): Promise<string[]> {
  const target = folder();
  if (!existsSync(target)) await download(target);
  // A small heap, and no compiler that would need more than a test's run to be worth it.
  const small = ['-Xms32m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];
  return [...small, `-Dlog4j2.configurationFile=${LOG4J}`, '-cp', join(target, '*')];
}

/** Runs one of its tools to its end. @returns its standard output @throws with what it printed */
export async function runTool(main: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('java', [...(await javaArguments()), main, ...args], { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

async function download(target: string): Promise<void> {
  const cache = join(target, '..');
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${target}.`);
  try {
    // A copy of it, since Maven may leave a folder beside.
    await copyFile(POM, join(unfinished, 'pom.xml'));
    const jars = join(unfinished, 'jars');
    await run('mvn', ['-q', '-B', '-f', join(unfinished, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`]);
    await rename(jars, target);
  } catch (error) {
    // Another process may have been faster, then its folder stands there.
    if (!existsSync(target)) throw new Error(`Maven could not fetch Kafka into ${target}: ${outputOf(error)}`);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function outputOf(error: unknown): string {
  const { stdout = '', message } = error as Error & { stdout?: string };
  return stdout.trim() || message;
}

function folder(): string {
  const pom = readFileSync(POM, 'utf8');
  const version = /<kafka.version>(.*)<\/kafka.version>/.exec(pom)?.[1];
  const content = createHash('sha256').update(pom).digest('hex').slice(0, 8);
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(caches, 'scheduled-events-bridge', `kafka-${version}-${content}`);
}

/** Undefined where there is none; 8 for "1.8". */
function javaVersion(): number | undefined {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(stderr ?? '') ?? [];
  return status === 0 ? Number(first === '1' ? second : first) : undefined;
}

/** Whether it can be run by its name. */
export function onPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((path) => {
    try {
      accessSync(join(path, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
