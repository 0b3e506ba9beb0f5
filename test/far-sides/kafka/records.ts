// A topic → its records as others read them: librdkafka's kcat, and Kafka's console consumer.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { onPath } from '../maven-jars.ts';
import { runTool } from './distribution.ts';

const run = promisify(execFile);

/** Why topics cannot be read here, in words for the `skip` of a test; false where they can. */
export function noReader(): string | false {
  return !onPath('kcat') && 'there is no kcat to read topics with: install kcat';
}

export interface ReadRecord {
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since 1970. */
  readonly timestampMs: number;
  /** Null where it has none. */
  readonly key: string | null;
  /** Null for a tombstone. */
  readonly value: string | null;
  /** In their order; a name may come twice. */
  readonly headers: readonly (readonly [name: string, value: string | null])[];
}

/** A record as kcat prints it with -J. */
export interface KcatRecord {
  readonly partition: number;
  readonly offset: number;
  readonly ts: number;
  readonly key: string | null;
  readonly payload: string | null;
  readonly headers?: readonly string[];
}

/**
 * All records of a topic, by partition and then by offset.
 * @param brokers `host:port` each
 * @throws where there is no such topic
 */
export async function readTopic(brokers: readonly string[], topic: string): Promise<ReadRecord[]> {
  const quick = ['-X', 'fetch.wait.max.ms=10'];
  const args = ['-C', '-b', brokers.join(','), '-t', topic, '-o', 'beginning', '-e', '-q', '-J', ...quick];
  const { stdout } = await run('kcat', args, { maxBuffer: 256 * 1024 * 1024 });
  const lines = stdout.split('\n').filter(Boolean);
  return lines.map((line) => fromKcat(JSON.parse(line) as KcatRecord)).sort(byPlace);
}

/** One line of kcat -J. */
export function fromKcat({ partition, offset, ts, key, payload, headers = [] }: KcatRecord): ReadRecord {
  return { partition, offset, timestampMs: ts, key, value: payload, headers: pairs(headers) };
}

function pairs(flat: readonly (string | null)[]): [string, string | null][] {
  return flat.flatMap((name, index) =>
    index % 2 === 0 && name !== null ? [[name, flat[index + 1] ?? null] as [string, string | null]] : [],
  );
}

// What no name, key or value of ours holds.
const [FIELD, HEADER, LINE, NULL] = ['\u001f', '\u001d', '\u001e', '\u0001null'];

/**
 * The same, read by Kafka's own client in Java; slow to start.
 * @param count how many records there are, for which it waits up to 10 s
 */
export async function readTopicInJava(brokers: readonly string[], topic: string, count: number): Promise<ReadRecord[]> {
  const shown = ['timestamp', 'key', 'offset', 'partition', 'headers', 'value'].map((part) => `print.${part}=true`);
  const separators = [
    `key.separator=${FIELD}`,
    `headers.separator=${HEADER}`,
    `line.separator=${LINE}`,
    `null.literal=${NULL}`,
  ];
  const output = await runTool(
    'org.apache.kafka.tools.consumer.ConsoleConsumer',
    ...['--bootstrap-server', brokers.join(','), '--topic', topic, '--from-beginning'],
    ...['--max-messages', String(count), '--timeout-ms', '10000'],
    ...[...shown, ...separators].flatMap((property) => ['--formatter-property', property]),
  );
  const lines = output.split(LINE).slice(0, -1);
  return lines.map(fromConsole).sort(byPlace);
}

function fromConsole(line: string): ReadRecord {
  const [timestamp = '', partition = '', offset = '', headers = '', key = '', value = ''] = line.split(FIELD);
  const numberIn = (field: string) => Number(field.slice(field.lastIndexOf(':') + 1));
  return {
    partition: numberIn(partition),
    offset: numberIn(offset),
    timestampMs: numberIn(timestamp),
    key: orNull(key),
    value: orNull(value),
    headers: headers === 'NO_HEADERS' ? [] : headers.split(HEADER).map(headerIn),
  };
}

function headerIn(text: string): [string, string | null] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), orNull(text.slice(colon + 1))];
}

function orNull(text: string): string | null {
  return text === NULL ? null : text;
}

function byPlace(a: ReadRecord, b: ReadRecord): number {
  return a.partition - b.partition || a.offset - b.offset;
}
