// All sink types of the bridge; no other file of the program lists them.
import type { AdapterDefinition } from './adapter.ts';
import { azureMonitorSink } from './azure-monitor/azure-monitor.ts';
import { commandSink } from './command/command.ts';
import { elasticsearchSink } from './elasticsearch/elasticsearch.ts';
import { fileSink } from './file/file.ts';
import { kafkaSink } from './kafka/kafka.ts';
import { kubernetesSink } from './kubernetes/kubernetes.ts';
import { otlpSink } from './otlp/otlp.ts';
import { serviceBusSink } from './service-bus/service-bus.ts';
import { splunkSink } from './splunk/splunk.ts';
import { stdoutSink } from './stdout/stdout.ts';
import { syslogSink } from './syslog/syslog.ts';
import { webhookSink } from './webhook/webhook.ts';
import { windowsEventLogSink } from './windows-event-log/windows-event-log.ts';

/**
 * A definition is light: it has options and a `create` without I/O. An adapter imports a heavy client on first use
 * (`await import(…)` in `check` and `deliver`), so that types that are not configured use no memory.
 */
export const ADAPTERS: readonly AdapterDefinition<unknown>[] = [
  stdoutSink,
  fileSink,
  syslogSink,
  webhookSink,
  kafkaSink,
  serviceBusSink,
  splunkSink,
  elasticsearchSink,
  otlpSink,
  azureMonitorSink,
  windowsEventLogSink,
  commandSink,
  kubernetesSink,
];
