// docs/receive/examples/java/ → the command of each program, or why there is no JDK for it.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { MavenJars, onPath } from '../far-sides/maven-jars.ts';
import { folderOf } from '../support/folder.ts';
import type { Command } from './maintenance.ts';

const FOLDER = join(import.meta.dirname, '../../docs/receive/examples/java');
const jars = new MavenJars({ name: 'CloudEvents', pom: join(FOLDER, 'pom.xml'), leastJava: 17 });

const RESUMES = 'resuming: prepared for 1 events';

/** For the `skip` of a test: false, or the reason. With REQUIRE_CONSUMERS the reason is an error. */
export const withoutJava: string | false = missing();

/** @param main the class with `main`, such as `KafkaMaintenance` */
export async function javaProgram(t: TestContext, main: string): Promise<Command> {
  const classPath = await jars.classPath();
  const classes = folderOf(t);
  const sources = join(FOLDER, 'src/main/java');
  const options = ['--release', '17', '-cp', classPath, '-sourcepath', sources, '-d', classes];
  await promisify(execFile)('javac', [...options, join(sources, `${main}.java`)]);
  // A small heap, and no compiler that would need more than a test's run to be worth it.
  const small = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  return {
    node: jars.java(),
    flags: [...small, '-cp', `${classPath}:${classes}`],
    main,
    resumes: RESUMES,
    endsOnFailure: true,
  };
}

function missing(): string | false {
  const reason =
    jars.missing() || (!onPath('javac') && 'there is no Java compiler: install a JDK of version 17 or newer');
  if (reason && process.env['REQUIRE_CONSUMERS']) throw new Error(`${reason}; REQUIRE_CONSUMERS is set`);
  return reason;
}
