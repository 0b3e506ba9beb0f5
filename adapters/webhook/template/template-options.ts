// Configuration of `body` → the template, its media type and its extra values.
import * as v from 'valibot';
import { secret } from '../../../src/schema/pieces.ts';
import { reveal, Secret } from '../../../src/secrets/secret.ts';

export const SHIPPED_TEMPLATES = ['slack', 'teams', 'pagerduty'] as const;

type ShippedTemplate = (typeof SHIPPED_TEMPLATES)[number];

/** A user's template is opened by config/ like a secret, because it may contain one. */
export type TemplateSource = { readonly shipped: ShippedTemplate } | { readonly file: Secret };

/** A media type (RFC 9110, section 8.3.1). Its only charset is UTF-8, because the bridge sends UTF-8. */
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+(?: *; *charset="?utf-8"?)?$/i;
const JSON_TYPE = /^[^/;]+\/(?:[^;]*\+)?json *(?:;|$)/i;
/** The name of a variable in Liquid. */
const VALUE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const template = v.pipe(
  v.string(),
  v.check(
    (text) => isShipped(text) || /[./\\]/.test(text),
    `is not a template of the bridge (${SHIPPED_TEMPLATES.join(', ')}): for your own template use its path, such as ./message.liquid`,
  ),
  v.description(
    'slack, teams or pagerduty, or the path of a Liquid file, relative to the folder of the configuration.',
  ),
  v.transform((text): TemplateSource => (isShipped(text) ? { shipped: text } : { file: new Secret({ file: text }) })),
);

const values = v.pipe(
  v.optional(
    v.record(
      v.pipe(v.string(), v.regex(VALUE_NAME, 'must consist of letters, digits and _, and not begin with a digit')),
      v.union([v.string(), secret()], 'must be text, { env: NAME } or { file: PATH }'),
    ),
    {},
  ),
  v.description('Additional values for the template, as {{ values.NAME }}: text, { env: NAME } or { file: PATH }.'),
);

export const templateEntries = {
  body: v.exactOptional(
    v.pipe(
      v.strictObject({
        template,
        contentType: v.pipe(
          v.optional(
            v.pipe(
              v.string(),
              v.regex(MEDIA_TYPE, 'must be a media type such as application/json, with no parameter but charset=utf-8'),
            ),
            'application/json',
          ),
          v.description(
            'The media type of the rendered body. Default application/json. If it is JSON, the body must be valid JSON.',
          ),
        ),
        values,
      }),
      v.description('A body in your own format for each event, instead of a CloudEvent.'),
    ),
  ),
};

export type TemplateBody = v.InferOutput<NonNullable<typeof templateEntries.body.wrapped>>;

export const MODE_FAULT = 'must be structured with body: a template renders one body for each event';

/** Returns whether a body of this media type must be JSON. */
export function isJson(contentType: string): boolean {
  return JSON_TYPE.test(contentType);
}

/** Returns the values for the template. The secrets must be open. */
export function openValues({ values: given }: TemplateBody): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, reveal(value)]));
}

function isShipped(text: string): text is ShippedTemplate {
  return SHIPPED_TEMPLATES.some((name) => name === text);
}
