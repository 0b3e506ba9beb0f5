// The sink type `otlp`: options → an adapter that posts log records to an OpenTelemetry receiver.
import type { AdapterDefinition } from '../adapter.ts';
import { httpSink } from '../http/http-sink.ts';
import { LogExporter } from './log-exporter.ts';
import { type OtlpOptions, otlpOptions, urlWarnings } from './otlp-options.ts';

export const otlp: AdapterDefinition<OtlpOptions> = httpSink({
  type: 'otlp',
  options: otlpOptions,
  urlWarnings,
  make: (options, deps) => new LogExporter(options, deps),
});
