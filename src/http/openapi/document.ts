// The routes of the main listener → the OpenAPI 3.1 document.
import type { GenericSchema } from 'valibot';
import packageJson from '../../../package.json' with { type: 'json' };
import { convertSchema } from '../../schema/json-schema.ts';
import type { ApiRoute } from '../route.ts';
import { type DocumentedProblem, definitionOf, type SchemaNode, templateOf } from './operation.ts';
import { problemResponses } from './problems.ts';

/** Either of them. */
const PROOFS: readonly SchemaNode[] = [{ bearer: [] }, { certificate: [] }];
const APPROVERS: readonly DocumentedProblem[] = [
  ...(['bad-request', 'no-approvers', 'unauthorized', 'too-many-requests', 'reader', 'unavailable'] as const),
];

interface Admission {
  readonly security: readonly SchemaNode[];
  readonly problems: readonly DocumentedProblem[];
}

/** At a loopback address no proof is needed. */
const READERS: Admission = {
  security: [{}, ...PROOFS],
  problems: ['bad-request', 'unauthorized', 'host', 'too-many-requests', 'unavailable'],
};

/** The proof that each kind of callers needs, and the problems that others get. */
const CALLERS: Readonly<Record<ApiRoute['callers'], Admission>> = {
  anyone: { security: [], problems: [] },
  readers: READERS,
  named: READERS,
  approvers: { security: PROOFS, problems: APPROVERS },
  admins: { security: PROOFS, problems: [...APPROVERS, 'not-admin', 'foreign-page'] },
};

const SECURITY_SCHEMES: SchemaNode = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: "An approver's or a reader's token, or a JWT if `jwt` is configured.",
  },
  certificate: { type: 'mutualTLS', description: "An approver's client certificate, if `clientCa` is configured." },
};

/** HEAD is as GET; any other method of a path is answered with 405. */
export function openApiDocument(routes: readonly ApiRoute[]) {
  const paths = Object.fromEntries(
    [...Map.groupBy(routes, ({ path }) => templateOf(path))].map(([path, own]) => [
      path,
      Object.fromEntries(own.map((route) => [route.method.toLowerCase(), operationObject(route)])),
    ]),
  );
  const responses = {
    MethodNotAllowed: problemResponses(['method-not-allowed'])['405'],
    NotFound: problemResponses(['not-found'])['404'],
  };
  const schemas: Record<string, SchemaNode> = {};
  collectSchemas([paths, responses], schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'scheduled-events-bridge',
      version: packageJson.version,
      summary: 'Scheduled events of Azure, and approvals of them.',
      description:
        'HEAD is answered as GET, without the body. An unknown path gets 404 `not-found`; another method of a known path gets 405 `method-not-allowed` with `Allow`. In a body, a member whose value is null counts as absent.',
      license: { name: packageJson.license, identifier: packageJson.license },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'health', description: 'For probes and Prometheus.' },
      { name: 'events', description: 'What the bridge has read from the metadata service.' },
      { name: 'approvals', description: 'Approving and holding events, and the record of it.' },
      { name: 'operation', description: 'For those who run the bridge.' },
    ],
    paths,
    components: { schemas, securitySchemes: SECURITY_SCHEMES, responses },
  } as const;
}

function operationObject({ path, callers, operation }: ApiRoute): SchemaNode {
  const { tag, answers, problems = [], ...members } = operation;
  const { security, problems: admission } = CALLERS[callers];
  const ofBody: DocumentedProblem[] = operation.requestBody ? ['not-json', 'too-large', 'bad-request'] : [];
  // A parameter that is empty in the path names no route.
  const ofPath: DocumentedProblem[] = path.includes(':') ? ['bad-request', 'not-found'] : [];
  const responses = { ...answers, ...problemResponses([...admission, ...ofBody, ...ofPath, ...problems, 'internal']) };
  return { ...members, tags: [tag], security, responses };
}

/** Adds each schema that `value` refers to, and those that these refer to. */
function collectSchemas(value: unknown, schemas: Record<string, SchemaNode>): void {
  if (typeof value !== 'object' || value === null) return;
  const definition = definitionOf(value);
  if (definition === undefined) {
    for (const inner of Object.values(value)) collectSchemas(inner, schemas);
    return;
  }
  const name =
    String((value as SchemaNode)['$ref'])
      .split('/')
      .at(-1) ?? '';
  if (name in schemas) return;
  schemas[name] = isNode(definition) ? definition : convertSchema(definition, 'draft-2020-12');
  collectSchemas(schemas[name], schemas);
}

function isNode(schema: SchemaNode | GenericSchema): schema is SchemaNode {
  return !('~standard' in schema);
}
