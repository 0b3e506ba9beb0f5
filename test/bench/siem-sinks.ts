// Every kind of log sink, with a far side that takes all there is.
import { RULE, STREAM } from '../far-sides/azure-monitor/data-collection-endpoint.ts';
import type { ReceivedRequest } from '../far-sides/webhook-receiver.ts';
import type { SiemSink } from './siem.ts';
import { fileFarSide } from './siem-file.ts';
import { httpFarSide, json } from './siem-http.ts';
import { syslogFarSide } from './siem-syslog.ts';

const AZURE_MONITOR = { rule: RULE, stream: STREAM, credential: 'managed-identity' };

export const SINKS: readonly SiemSink[] = [
  { type: 'file', start: fileFarSide },
  { type: 'syslog', start: () => syslogFarSide(1000) },
  { type: 'syslog', variant: 'settle 0s', start: () => syslogFarSide(0) },
  {
    type: 'splunk',
    start: () =>
      httpFarSide({
        sink: (url) => ({ url, token: { env: 'PATH' } }),
        answer: () => json({ text: 'Success', code: 0 }),
      }),
  },
  { type: 'elasticsearch', start: () => httpFarSide({ sink: (url) => ({ url }), answer: allCreated }) },
  {
    type: 'otlp',
    start: () =>
      httpFarSide({ sink: (url) => ({ url }), answer: () => ({ type: 'application/x-protobuf', body: '' }) }),
  },
  { type: 'azure-monitor', start: () => httpFarSide({ sink: (endpoint) => ({ endpoint, ...AZURE_MONITOR }) }) },
];

/** As Elasticsearch answers a bulk request. */
function allCreated({ body }: ReceivedRequest): ReturnType<typeof json> {
  const ids = [...body.toString().matchAll(/"_id":"([0-9a-f]{64})"/g)].map(([, id]) => id);
  return json({ errors: false, items: ids.map((_id) => ({ create: { _id, status: 201 } })) });
}
