// The distribution's jars → a shell in a folder as its tarball unpacks: bin/ and config/.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { type Ended, type Program, start } from '../../support/program.ts';
import { javaArguments, javaProgram } from './distribution.ts';
import type { Kafka } from './shared-kafka.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');

/** What each of Kafka's own scripts runs. */
const CLASSES: Readonly<Record<string, string>> = {
  'kafka-storage': 'kafka.tools.StorageTool',
  'kafka-topics': 'org.apache.kafka.tools.TopicCommand',
  'kafka-configs': 'kafka.admin.ConfigCommand',
  'kafka-acls': 'org.apache.kafka.tools.AclCommand',
  'kafka-console-consumer': 'org.apache.kafka.tools.consumer.ConsoleConsumer',
};

// Theirs log to standard error, too.
const LOGGING = `rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = [%d] %p %m (%c)%n
`;

// The lines of the tarball's own that formatting a disk depends on.
const properties = (data: string) => `process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
log.dirs=${data}
`;

/** A folder as the tarball unpacks, with the scripts that the pages name. */
export async function kafkaFolder(t: TestContext, folder = folderOf(t)): Promise<string> {
  for (const name of ['bin', 'config']) mkdirSync(join(folder, name));
  const logging = join(folder, 'config/tools-log4j2.properties');
  writeFileSync(logging, LOGGING);
  writeFileSync(join(folder, 'config/server.properties'), properties(join(folder, 'data')));
  // The last setting of a name counts.
  const java = [javaProgram(), ...(await javaArguments()), `-Dlog4j2.configurationFile=${logging}`]
    .map((word) => `'${word}'`)
    .join(' ');
  for (const [script, main] of Object.entries(CLASSES))
    writeFileSync(join(folder, 'bin', `${script}.sh`), `#!/bin/sh\nexec ${java} ${main} "$@"\n`, { mode: 0o755 });
  return folder;
}

/**
 * Types what a page shows. Its broker and its topics `maintenance` and `approvals` stand for those of one test, and
 * `npx` runs the built command.
 */
export class KafkaShell {
  readonly folder: string;
  readonly topic: string;
  readonly approvals: string;
  readonly #t: TestContext;
  readonly #names: Map<string | RegExp, string>;

  private constructor(t: TestContext, folder: string, kafka: Kafka) {
    this.#t = t;
    this.folder = folder;
    this.topic = kafka.uniqueName('maintenance');
    this.approvals = kafka.uniqueName('approvals');
    this.#names = new Map<string | RegExp, string>([
      [/\bmaintenance\b/g, this.topic],
      [/(?<=topic:? |-t )approvals\b/g, this.approvals],
      ['localhost:9092', kafka.address],
    ]);
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
      mode: 0o755,
    });
  }

  static async open(t: TestContext, kafka: Kafka): Promise<KafkaShell> {
    return new KafkaShell(t, await kafkaFolder(t), kafka);
  }

  /** From now on the page's name stands for that. */
  means(name: string, value: string): void {
    this.#names.set(name, value);
  }

  /** The page's words in those of this test. */
  here(text: string): string {
    return [...this.#names].reduce((changed, [name, value]) => changed.replaceAll(name, value), text);
  }

  /** Writes bridge.yaml. */
  writes(yaml: string): void {
    writeFileSync(join(this.folder, 'bridge.yaml'), this.here(yaml));
  }

  /** Ends with the test: let what is to be ended so begin with `exec`. */
  start(text: string, env: Readonly<Record<string, string>> = {}): Program {
    const path = `${this.folder}:${process.env['PATH'] ?? ''}`;
    const lines = `cd -- "$0" || exit\n${this.here(text)}`;
    return start(this.#t, ['-c', lines, this.folder], { node: 'bash', main: '--norc', env: { PATH: path, ...env } });
  }

  /** Runs it to its end. @throws where it fails */
  async type(text: string, env?: Readonly<Record<string, string>>): Promise<Ended> {
    const ended = await this.start(text, env).ended();
    assert.equal(ended.code, 0, `${text}: ${ended.stdout}${ended.stderr}`);
    return ended;
  }
}
