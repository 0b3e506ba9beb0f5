// The approval sources → their channels: approvals, holds and releases in one message.
import type { Config } from '../config/config.ts';
import { START_REQUEST } from '../http/approval-routes.ts';
import { HOLD_REQUEST } from '../http/hold-routes.ts';
import { approverBody } from '../http/openapi/bodies.ts';
import { EXAMPLE_ID, id, list, named, object, optional, type SchemaNode } from '../http/openapi/operation.ts';
import { bodyMessages } from './http-channels.ts';
import { type DocumentPart, endpointPart } from './parts.ts';
import type { DocumentContext } from './sink-channels.ts';

const RELEASE_REQUEST = named(
  'ReleaseRequest',
  object({
    EventId: { ...id, maxLength: 256 },
    approver: optional({
      ...id,
      maxLength: 256,
      description: 'Whose hold. Only an admin may release the hold of another approver.',
    }),
  }),
);

const nonEmpty = (items: SchemaNode) => optional({ ...list(items), minItems: 1 });

/** The lists of `parseMessageRequests`. At least one is needed. */
const MESSAGE = approverBody(
  'ApprovalMessage',
  object({
    StartRequests: nonEmpty(START_REQUEST),
    Holds: nonEmpty(named('HoldRequest', HOLD_REQUEST)),
    Releases: nonEmpty(RELEASE_REQUEST),
  }),
  { StartRequests: [{ EventId: EXAMPLE_ID, Seen: `${EXAMPLE_ID.toLowerCase()}:scheduled` }] },
);

/** Returns a part for each source at a broker. */
export function sourceParts(
  sources: Config['approvals']['sources'],
  { components }: DocumentContext,
): readonly DocumentPart[] {
  return Object.entries(sources).flatMap(([name, { definition, options }]) => {
    const place = definition.channel?.(options);
    if (place === undefined) return [];
    const part = {
      channel: `sources.${name}`,
      server: `source-${name}`,
      operation: `receive.${name}`,
      action: 'receive' as const,
      summary: `Receives approvals, holds and releases from the source ${name}.`,
      messages: bodyMessages(MESSAGE, [], components),
    };
    return [endpointPart(place, part)];
  });
}
