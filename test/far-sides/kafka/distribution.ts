// pom.xml → Kafka's jars and how its programs are run; or why there are none.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MavenJars } from '../maven-jars.ts';

const run = promisify(execFile);

const LOG4J = join(import.meta.dirname, 'log4j2.properties');
/** A 4.x broker needs Java 17. */
const jars = new MavenJars({ name: 'Kafka', pom: join(import.meta.dirname, 'pom.xml'), leastJava: 17 });

/** Why no broker can be started here, in words for the `skip` of a test; false where one can. */
export function noDistribution(): string | false {
  return jars.missing();
}

/** The program that takes `javaArguments`. */
export function javaProgram(): string {
  return jars.java();
}

/** Fetches the jars where there are none yet. @returns what precedes the class and its arguments */
export async function javaArguments(): Promise<string[]> {
  // A small heap, and no compiler that would need more than a test's run to be worth it.
  const small = ['-Xms32m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];
  return [...small, `-Dlog4j2.configurationFile=${LOG4J}`, '-cp', await jars.classPath()];
}

/** Runs one of its tools to its end. @returns its standard output @throws with what it printed */
export async function runTool(main: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(javaProgram(), [...(await javaArguments()), main, ...args], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}
