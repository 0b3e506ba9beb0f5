// Lines of CEF → what ParCEFone, with validation on, reads in each, or why it refuses the line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { MavenJars } from '../maven-jars.ts';

const jars = new MavenJars({ name: 'ParCEFone', pom: join(import.meta.dirname, 'pom.xml'), leastJava: 17 });

/** For the `skip` of a test: false, or the reason. @throws instead if REQUIRE_PARCEFONE is set, as in CI */
export function noParcefone(): string | false {
  const reason = jars.missing();
  if (reason && process.env['REQUIRE_PARCEFONE']) throw new Error(`${reason}; REQUIRE_PARCEFONE is set`);
  return reason;
}

/**
 * Header and extension by their keys, values with their escapes, as the library leaves them; a text for a line that it
 * refuses.
 */
export type ReadLine = Readonly<Record<string, string>> | string;

export async function readByParcefone(lines: readonly string[]): Promise<readonly ReadLine[]> {
  const program = ['-XX:TieredStopAtLevel=1', '-cp', await jars.classPath(), join(import.meta.dirname, 'ReadCef.java')];
  const java = spawn(jars.java(), program, { stdio: 'pipe' });
  let [printed, log] = ['', ''];
  java.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  java.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  java.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const [code] = await once(java, 'close');
  if (code !== 0) throw new Error(`ReadCef.java ended with ${code}: ${log}`);
  return printed.trimEnd().split('\n').map(readLine);
}

function readLine(line: string): ReadLine {
  if (line.startsWith('fault ')) return line;
  const fields = line
    .split(' ')
    .map((field) => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)] as const);
  return Object.fromEntries(fields.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}
