// A configuration → the AsyncAPI 3.1 document of its CloudEvents and approvals, without secrets.
import packageJson from '../../package.json' with { type: 'json' };
import { sampleEntries } from '../cloudevents/samples.ts';
import type { Config } from '../config/config.ts';
import type { SchemaNode } from '../http/openapi/operation.ts';
import { Components } from './components.ts';
import { httpParts } from './http-channels.ts';
import type { DocumentPart } from './parts.ts';
import { type DocumentContext, sinkParts } from './sink-channels.ts';
import { sourceParts } from './source-channels.ts';

const SOURCE = '/subscriptions/00000000-0000-0000-0000-000000000000/resourcegroups/shop';

/** The settings that decide the document. */
export type DescribedConfig = Pick<Config, 'cloudevents' | 'http' | 'approvals' | 'sinks'>;

/** Returns the document as plain JSON. @param config its secrets are resolved; none of them is in the document */
export function asyncApiDocument({ cloudevents, http, approvals, sinks }: DescribedConfig): SchemaNode {
  const { typePrefix, source } = cloudevents;
  const samples = sampleEntries({ typePrefix, source: source === null || source === 'vm' ? SOURCE : source });
  const components = new Components();
  const context: DocumentContext = { typePrefix, components, samples };
  const parts = [
    ...sinkParts(sinks, context),
    ...sourceParts(approvals.sources, context),
    ...httpParts(http.listen, http.tls !== null, context),
  ];
  const merged = <Key extends keyof DocumentPart>(key: Key) =>
    Object.assign({}, ...parts.map((part) => part[key])) as SchemaNode;
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'scheduled-events-bridge',
      version: packageJson.version,
      description:
        'Scheduled events of Azure as CloudEvents, and approvals of them. Readers ignore types and members that they do not know.',
      license: { name: packageJson.license },
    },
    defaultContentType: 'application/json',
    servers: merged('servers'),
    channels: merged('channels'),
    operations: merged('operations'),
    components: { schemas: components.schemas },
  };
}
