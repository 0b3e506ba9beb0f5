// All sink types of the bridge; no other file of the program lists them.
import type { AdapterDefinition } from './adapter.ts';
import { azureMonitor } from './azure-monitor/azure-monitor.ts';
import { command } from './command/command.ts';
import { elasticsearch } from './elasticsearch/elasticsearch.ts';
import { file } from './file/file.ts';
import { kafka } from './kafka/kafka.ts';
import { kubernetes } from './kubernetes/kubernetes.ts';
import { otlp } from './otlp/otlp.ts';
import { serviceBus } from './service-bus/service-bus.ts';
import { splunk } from './splunk/splunk.ts';
import { stdout } from './stdout/stdout.ts';
import { syslog } from './syslog/syslog.ts';
import { webhook } from './webhook/webhook.ts';

/**
 * A definition is light: it has options and a `create` without I/O. An adapter imports a heavy client on first use (`await import(…)` in
 * `check` and `deliver`), so that types that are not configured use no memory.
 */
export const ADAPTERS: readonly AdapterDefinition<unknown>[] = [
  stdout,
  file,
  syslog,
  webhook,
  kafka,
  serviceBus,
  splunk,
  elasticsearch,
  otlp,
  azureMonitor,
  command,
  kubernetes,
];
