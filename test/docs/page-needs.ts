// A word behind `needs` or `with` on a page → the far side that the page does not start itself.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { kafkaFolder } from '../far-sides/kafka/kafka-shell.ts';
import { sharedKafka, withoutOurKafka } from '../far-sides/kafka/shared-kafka.ts';
import { noOpenSearch, OpenSearch } from '../far-sides/opensearch/opensearch.ts';
import { COLLECTOR, withoutCollector } from '../far-sides/otlp/collector.ts';
import { type DaemonKind, rsyslog, syslogNg } from '../far-sides/syslog/daemons.ts';
import { start } from '../support/program.ts';
import type { PlayedPage } from './played-page.ts';

export interface Need {
  /** False, or the reason why the page cannot be played on this machine. */
  readonly isMissing: string | false;
  readonly provide: (page: PlayedPage, t: TestContext) => void | Promise<void>;
}

export const NEEDS: Readonly<Record<string, Need>> = {
  simulator: { isMissing: false, provide: provideSimulator },
  kafka: { isMissing: withoutOurKafka, provide: provideKafka },
  opensearch: { isMissing: noOpenSearch(), provide: provideOpenSearch },
  collector: { isMissing: withoutCollector, provide: ({ folder }) => symlinkSync(COLLECTOR, join(folder, 'otelcol')) },
  rsyslog: { isMissing: rsyslog.isMissing, provide: (page) => provideDaemon(page, rsyslog) },
  'syslog-ng': { isMissing: syslogNg.isMissing, provide: (page) => provideDaemon(page, syslogNg) },
};

/** One machine, at its default port on the page. */
async function provideSimulator(page: PlayedPage, t: TestContext): Promise<void> {
  const simulator = start(t, ['simulate', '--listen', '127.0.0.1:0']);
  const [line = ''] = await simulator.lines(1);
  page.means('127.0.0.1:8080', new URL(JSON.parse(line).endpoint).host);
}

/** The broker of all tests, with topics of this one. */
async function provideKafka(page: PlayedPage, t: TestContext): Promise<void> {
  const kafka = await sharedKafka(t);
  await kafkaFolder(t, page.folder);
  page.means('localhost:9092', kafka.address);
  page.means(/(?<=topic:? |-t |"topic":")approvals\b/g, kafka.uniqueName('approvals'));
}

async function provideOpenSearch(page: PlayedPage, t: TestContext): Promise<void> {
  const node = await OpenSearch.start();
  t.after(() => node[Symbol.asyncDispose]());
  page.means('127.0.0.1:9200', new URL(node.url).host);
}

/** The daemon is installed already, or unpacked in a folder. */
function provideDaemon(page: PlayedPage, kind: DaemonKind): void {
  page.program('sudo', 'exit 0');
  const { program, args, env } = kind.command(
    { folder: '', output: '', certFile: '', keyFile: '', ports: { tcp: 0, tls: 0, udp: 0 } },
    '',
  );
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  const modules = args.slice(args.indexOf('--module-path')).slice(0, 2);
  if (kind === syslogNg) page.means('/usr/sbin/syslog-ng ', `${variables.join('')}${program} ${modules.join(' ')} `);
}
