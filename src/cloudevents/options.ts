// The section `cloudevents` of the configuration → schema and defaults.
import * as v from 'valibot';
import { isUriReference } from '../schema/uri-reference.ts';

/** What a URI is made of; how it is put together, `isUriReference` judges. */
const URI_CHARACTERS = "^(?:[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$";
const NOT_ENCODED = 'holds a character that no URI does, such as a space or é: percent-encode it (%20, %C3%A9)';
const NO_REFERENCE = 'must be empty (~), "vm" or a URI reference by RFC 3986, such as /subscriptions/S/resourcegroups/G';

export const cloudeventsSection = v.pipe(
  v.strictObject({
    source: v.optional(
      v.nullable(
        v.pipe(
          v.string(),
          v.regex(new RegExp(URI_CHARACTERS), NOT_ENCODED),
          v.check((text) => !new RegExp(URI_CHARACTERS).test(text) || isUriReference(text), NO_REFERENCE),
          v.description(
            'The CloudEvents\' source. Empty: the scope that instance metadata names. "vm": the same with the VM appended. Any other text is taken as it is.',
          ),
        ),
      ),
      null,
    ),
    typePrefix: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(200, 'must have at most 200 characters'),
        v.regex(
          /^[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9][A-Za-z0-9-]*)*$/,
          'must be a reversed domain name without a dot at its end, such as com.example.maintenance',
        ),
        v.description("What the CloudEvents' types begin with, without a dot at its end."),
      ),
      'io.github.scheduled-events-bridge',
    ),
  }),
  v.description('What the CloudEvents look like.'),
);
