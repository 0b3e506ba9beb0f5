// The sink type `splunk`: options → an adapter that posts to an HTTP Event Collector.
import type { AdapterDefinition } from '../adapter.ts';
import { httpSink } from '../http/http-sink.ts';
import { EventCollector } from './event-collector.ts';
import { type SplunkOptions, splunkOptions, tokenFaults } from './splunk-options.ts';

export const splunk: AdapterDefinition<SplunkOptions> = httpSink({
  type: 'splunk',
  options: splunkOptions,
  secretFaults: tokenFaults,
  make: (options, deps) => new EventCollector(options, deps),
});
