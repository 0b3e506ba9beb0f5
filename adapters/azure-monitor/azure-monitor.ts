// The sink type `azure-monitor`: options → an adapter that posts records to a collection rule.
import type { AdapterDefinition } from '../adapter.ts';
import { httpSink } from '../http/http-sink.ts';
import { type AzureMonitorOptions, azureMonitorOptions } from './azure-monitor-options.ts';
import { LogsIngestion } from './logs-ingestion.ts';

export const azureMonitor: AdapterDefinition<AzureMonitorOptions> = httpSink({
  type: 'azure-monitor',
  options: azureMonitorOptions,
  make: (options, deps) => new LogsIngestion(options, deps),
});
