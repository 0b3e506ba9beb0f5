// pom.xml → its jars, fetched once by Maven, and a Java that runs them; or why there are none.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface MavenJarsOptions {
  /** What they are, for people: `Kafka`. */
  readonly name: string;
  /** Names its version as `<NAME.version>` in lower case. */
  readonly pom: string;
  /** The version of Java that they need. */
  readonly leastJava: number;
}

export class MavenJars {
  readonly #options: MavenJarsOptions;

  constructor(options: MavenJarsOptions) {
    this.#options = options;
  }

  /** Why they cannot be run here, in words for the `skip` of a test; false where they can. */
  missing(): string | false {
    const { name, leastJava } = this.#options;
    if (javaVersion('java') === undefined && javaFrom(leastJava) === undefined)
      return `there is no Java: install a JRE of version ${leastJava} or newer`;
    if (javaFrom(leastJava) === undefined)
      return `Java is ${javaVersion('java')}: ${name} needs version ${leastJava} or newer`;
    if (!existsSync(this.#folder()) && !onPath('mvn')) return `there is no Maven to fetch ${name} with: install maven`;
    return false;
  }

  /** The program. @throws where there is none */
  java(): string {
    const java = javaFrom(this.#options.leastJava);
    if (java === undefined) throw new Error(String(this.missing()));
    return java;
  }

  /** For Java's `-cp`. Starts the download where there is none yet; several processes may do so at once. */
  async classPath(): Promise<string> {
    const target = this.#folder();
    if (!existsSync(target)) await this.#download(target);
    return join(target, '*');
  }

  async #download(target: string): Promise<void> {
    const { name, pom } = this.#options;
    await mkdir(join(target, '..'), { recursive: true });
    const unfinished = await mkdtemp(`${target}.`);
    try {
      // A copy of it, since Maven may leave a folder beside.
      await copyFile(pom, join(unfinished, 'pom.xml'));
      const jars = join(unfinished, 'jars');
      await run('mvn', [
        '-q',
        '-B',
        '-f',
        join(unfinished, 'pom.xml'),
        'dependency:copy-dependencies',
        `-DoutputDirectory=${jars}`,
      ]);
      await rename(jars, target);
    } catch (error) {
      // Another process may have been faster, then its folder stands there.
      if (!existsSync(target)) throw new Error(`Maven could not fetch ${name} into ${target}: ${outputOf(error)}`);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }

  #folder(): string {
    const name = this.#options.name.toLowerCase();
    const pom = readFileSync(this.#options.pom, 'utf8');
    const version = new RegExp(`<${name}.version>(.*)</${name}.version>`).exec(pom)?.[1];
    const content = createHash('sha256').update(pom).digest('hex').slice(0, 8);
    const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
    return join(caches, 'scheduled-events-bridge', `${name}-${version}-${content}`);
  }
}

/**
 * The one on PATH, else that of JAVA_HOME, else any that the machine's packages installed; undefined where none is new
 * enough.
 */
function javaFrom(least: number): string | undefined {
  const home = process.env['JAVA_HOME'];
  const candidates = ['java', ...(home ? [join(home, 'bin/java')] : []), ...globSync('/usr/lib/jvm/*/bin/java')];
  return candidates.find((java) => (javaVersion(java) ?? 0) >= least);
}

const versions = new Map<string, number | undefined>();

/** Undefined where there is none; 8 for "1.8". */
function javaVersion(java: string): number | undefined {
  if (versions.has(java)) return versions.get(java);
  const { status, stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' });
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(stderr ?? '') ?? [];
  const version = status === 0 ? Number(first === '1' ? second : first) : undefined;
  versions.set(java, version);
  return version;
}

function outputOf(error: unknown): string {
  const { stdout = '', message } = error as Error & { stdout?: string };
  return stdout.trim() || message;
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
