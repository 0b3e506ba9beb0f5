// An answer of the HTTP interface → an error unless the OpenAPI document tells of all of it.
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { OPENAPI_DOCUMENT } from '../support/openapi-document.ts';

interface Response {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

export type Operation = Readonly<{
  operationId: string;
  security: readonly object[];
  responses: Readonly<Record<string, Response>>;
}>;

export interface AnswerToCheck {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export const PATHS = OPENAPI_DOCUMENT.paths as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const OPEN_ID = 'https://openapi.invalid/open';
const CLOSED_ID = 'https://openapi.invalid/closed';

/**
 * Answers may get new members one day, so the document leaves them open; here a member that it does not tell of is a
 * fault.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isShape = 'properties' in inner && inner['type'] === 'object' && !('additionalProperties' in inner);
  return isShape ? { ...inner, additionalProperties: false } : inner;
}

const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  strictTypes: false,
  allowUnionTypes: true,
  allErrors: true,
});
formats.default(ajv);
ajv.addVocabulary(['example', 'components']);
ajv.addSchema({ $id: OPEN_ID, components: OPENAPI_DOCUMENT.components });
ajv.addSchema({ $id: CLOSED_ID, components: closed(OPENAPI_DOCUMENT.components) } as object);

/**
 * What is wrong with a value, or nothing; compiled with the document's own components in reach. `isClosed`: as for an
 * answer.
 */
export function validator(schema: object, isClosed = false): (value: unknown) => string {
  const text = JSON.stringify(isClosed ? closed(schema) : schema);
  const validate = ajv.compile(
    JSON.parse(text.replaceAll('"#/components/', `"${isClosed ? CLOSED_ID : OPEN_ID}#/components/`)),
  );
  return (value) => (validate(value) ? '' : ajv.errorsText(validate.errors));
}

/** Faults where the document does not tell of this answer, or otherwise than it is. */
export function assertConforms(method: string, target: string, answer: AnswerToCheck): void {
  const place = `${method} ${target} → ${answer.status}`;
  const response = responseFor(method, target.split(/[?#]/)[0] ?? '', answer.status);
  assert.ok(response, `${place} is not in the OpenAPI document`);
  for (const [name, { required = false, schema }] of Object.entries(response.headers ?? {})) {
    const value = answer.headers[name.toLowerCase()];
    assert.ok(value !== undefined || !required, `${place} has no ${name}`);
    if (value !== undefined)
      assert.equal(validator(schema)(/^\d+$/.test(String(value)) ? Number(value) : value), '', `${place}: ${name}`);
  }
  if (response.content === undefined) {
    assert.equal(answer.text, '', `${place} has a body`);
    return;
  }
  const mediaType = String(answer.headers['content-type']).split(';')[0] ?? '';
  const content = response.content[mediaType];
  assert.ok(content, `${place} is ${mediaType}, which is not in the OpenAPI document`);
  if (method === 'HEAD') return;
  const body = mediaType.endsWith('json') ? JSON.parse(answer.text) : answer.text;
  assert.equal(validator(content.schema, true)(body), '', `${place}: ${answer.text}`);
}

function responseFor(method: string, path: string, status: number): Response | undefined {
  const { MethodNotAllowed, NotFound } = OPENAPI_DOCUMENT.components.responses as Readonly<Record<string, Response>>;
  if (status === 405) return MethodNotAllowed;
  const known =
    Object.keys(PATHS).find((own) => own === path) ?? Object.keys(PATHS).find((own) => pattern(own).test(path));
  const operation = known === undefined ? undefined : PATHS[known]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  return operation?.responses[status] ?? (status === 404 ? NotFound : undefined);
}

/** `/v1/holds/{eventId}` as an expression. */
function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
