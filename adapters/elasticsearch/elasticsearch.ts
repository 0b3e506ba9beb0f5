// The sink type `elasticsearch`: options → an adapter that stores documents in an index.
import type { AdapterDefinition } from '../adapter.ts';
import { httpSink } from '../http/http-sink.ts';
import { BulkIndex } from './bulk-index.ts';
import { credentialFaults, type ElasticsearchOptions, elasticsearchOptions } from './elasticsearch-options.ts';

export const elasticsearch: AdapterDefinition<ElasticsearchOptions> = httpSink({
  type: 'elasticsearch',
  options: elasticsearchOptions,
  secretFaults: credentialFaults,
  make: (options, deps) => new BulkIndex(options, deps),
});
