// The section `cloudevents` of the configuration → schema and defaults.
import * as v from 'valibot';
import { VM_FIELDS } from '../model/vm-metadata.ts';
import { isUriReference } from '../schema/uri-reference.ts';
import { TAG_PREFIX } from './data.ts';

/** The characters of a URI; `isUriReference` checks their order. */
const URI_CHARACTERS = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;
const NOT_ENCODED =
  'has a character that is not allowed in a URI, such as a space or é: percent-encode it (%20, %C3%A9)';
const NO_REFERENCE = 'must be empty (~), "vm" or a URI reference (RFC 3986), such as /subscriptions/S/resourcegroups/G';

/** Azure allows 50 tags. */
const MOST_FIELDS = VM_FIELDS.length + 50;
/** A field, or a tag without control characters and those that Azure forbids in its name. */
const VM_FIELD = new RegExp(
  `^(?:${VM_FIELDS.join('|')}|${TAG_PREFIX.replace('.', '\\.')}[^<>%&\\\\?/\\u0000-\\u001f\\u007f]{1,512})$`,
);

/** `cloudevents.observer`. */
const observerFields = v.pipe(
  v.array(v.pipe(v.string(), v.regex(VM_FIELD, `must be one of ${VM_FIELDS.join(', ')}, or ${TAG_PREFIX}NAME`))),
  v.maxLength(MOST_FIELDS, `must have at most ${MOST_FIELDS} members`),
  v.check(
    (names) => new Set(names.map((name) => name.toLowerCase())).size === names.length,
    'must not name a field or a tag twice (tags are compared without case)',
  ),
  v.description(
    "The fields of the VM's instance metadata in data.observer.vm of every CloudEvent: by their names there, tags as tags.NAME.",
  ),
);

export const cloudeventsSection = v.pipe(
  v.strictObject({
    source: v.optional(
      v.nullable(
        v.pipe(
          v.string(),
          v.regex(URI_CHARACTERS, NOT_ENCODED),
          v.check((text) => !URI_CHARACTERS.test(text) || isUriReference(text), NO_REFERENCE),
          v.description(
            'The source attribute of the CloudEvents. Empty: the scope from instance metadata. "vm": the same with the VM appended. Any other text is used as it is.',
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
        v.description("The prefix of the CloudEvents' types, without a dot at the end."),
      ),
      'io.github.scheduled-events-bridge',
    ),
    observer: v.optional(observerFields, []),
  }),
  v.description('Attributes and data of the CloudEvents.'),
);
