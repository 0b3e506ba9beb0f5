// The routes of the HTTP interface → channels of the stream, of approvals, holds and releases.

import { STRUCTURED_CONTENT_TYPE } from '../cloudevents/event.ts';
import { urlHost } from '../formats/url-host.ts';
import { APPROVE_ROUTE } from '../http/approval-routes.ts';
import { HOLD_ROUTE, RELEASE_ROUTE } from '../http/hold-routes.ts';
import { type ApiOperation, object, optional, type SchemaNode, templateOf } from '../http/openapi/operation.ts';
import { STREAM_ROUTE } from '../http/stream/stream-route.ts';
import { CHANGE_NAMES } from '../model/change-names.ts';
import { type Components, pascal } from './components.ts';
import { eventSchema } from './envelope.ts';
import { type DocumentPart, endpointPart } from './parts.ts';
import { type DocumentContext, nameOf } from './sink-channels.ts';

interface DescribedRoute {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

/** The key of the bridge's own server. */
const SERVER = 'bridge';
const HTTP_BINDING = { bindingVersion: '0.3.0' };

/** Returns the parts of `http.listen`. */
export function httpParts(
  listen: { readonly host: string; readonly port: number },
  isTls: boolean,
  context: DocumentContext,
): readonly DocumentPart[] {
  const { host: name, port } = listen;
  const host = `${urlHost(name)}:${port}`;
  const part = (key: string, route: DescribedRoute, messages: Readonly<Record<string, SchemaNode>>) =>
    routePart({ protocol: isTls ? 'https' : 'http', hosts: [host] }, key, route, messages, context.components);
  const ofBody = ({ operation: { requestBody = {}, parameters = [] } }: DescribedRoute) =>
    bodyMessages(requestBody, parameters, context.components);
  return [
    part('v1.stream', STREAM_ROUTE, streamMessages(context)),
    part('v1.approvals', APPROVE_ROUTE, ofBody(APPROVE_ROUTE)),
    part('v1.holds', HOLD_ROUTE, ofBody(HOLD_ROUTE)),
    part('v1.releases', RELEASE_ROUTE, {
      Release: { name: 'Release', title: 'Release', summary: 'A request without a body.' },
    }),
  ];
}

function routePart(
  server: { readonly protocol: string; readonly hosts: readonly string[] },
  key: string,
  { method, path, operation }: DescribedRoute,
  messages: Readonly<Record<string, SchemaNode>>,
  components: Components,
): DocumentPart {
  const { operationId, summary, description = summary, parameters = [] } = operation;
  const query = parameters.filter((each) => each['in'] === 'query');
  const place = {
    ...server,
    address: templateOf(path),
    description: `${description} Answers and proofs: GET /v1/openapi.json.`,
  };
  const own = endpointPart(place, {
    channel: key,
    server: SERVER,
    operation: operationId,
    action: method === 'GET' ? 'send' : 'receive',
    summary,
    messages,
    operationBindings: {
      http: {
        method,
        ...(query.length > 0 && { query: components.convert(ofParameters(query), `${pascal(operationId)}Query`) }),
        ...HTTP_BINDING,
      },
    },
  });
  const inPath = parameters.filter((each) => each['in'] === 'path');
  if (inPath.length === 0) return own;
  const described = inPath.map(({ name, description: text }) => [String(name), { description: text }]);
  return { ...own, channels: { [key]: { ...own.channels[key], parameters: Object.fromEntries(described) } } };
}

/** Each as the data of a Server-Sent Event. */
function streamMessages({ typePrefix, components, samples }: DocumentContext): Readonly<Record<string, SchemaNode>> {
  const messages = CHANGE_NAMES.map((change) => {
    const sample = samples.find((entry) => entry.change === change);
    const examples = sample && [
      { name: 'sample', payload: JSON.parse(Buffer.from(sample.bytes).toString()) as unknown },
    ];
    const payload = eventSchema(change, typePrefix, components);
    return [
      pascal(change),
      { ...nameOf(change), contentType: STRUCTURED_CONTENT_TYPE, payload, ...(examples && { examples }) },
    ] as const;
  });
  return Object.fromEntries(messages);
}

/** A message for each media type of the body. */
export function bodyMessages(
  body: SchemaNode,
  parameters: readonly SchemaNode[],
  components: Components,
): Readonly<Record<string, SchemaNode>> {
  const inHeader = parameters.filter((each) => each['in'] === 'header');
  const content = Object.entries(body['content'] as Readonly<Record<string, SchemaNode>>);
  const messages = content.map(([contentType, { schema, example, examples = {} }]) => {
    const payload = components.convert(schema as SchemaNode, '');
    const name = String(payload['$ref']).split('/').at(-1) ?? '';
    const values =
      example === undefined
        ? Object.values(examples as SchemaNode).map((each) => (each as SchemaNode)['value'])
        : [example];
    const isPlain = contentType === 'application/json';
    const headers = isPlain && inHeader.length > 0 && components.convert(ofParameters(inHeader), `${name}Headers`);
    const shown = values.map((value, index) => ({ name: `example-${index + 1}`, payload: value }));
    return [name, { name, title: name, contentType, ...(headers && { headers }), payload, examples: shown }] as const;
  });
  return Object.fromEntries(messages);
}

function ofParameters(parameters: readonly SchemaNode[]): SchemaNode {
  return object(
    Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        String(name),
        optional({ ...(schema as SchemaNode), description }),
      ]),
    ),
  );
}
