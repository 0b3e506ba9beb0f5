// A delivery → a request with the body from the template.
import { BridgeError, type BridgeErrorDetails } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { EncodedRequest } from '../encoder.ts';
import { loadTemplate, renderBody, templateScope } from './template-body.ts';
import type { Template } from './template-engine.ts';
import { openValues, type TemplateBody } from './template-options.ts';

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Returns an encoder that gives the same bytes for the same delivery. Loads the template at the first delivery. Rejects
 * with BRIDGE_WEBHOOK_TEMPLATE: `refused` if the template fails for this event, `misconfigured` if it fails for all.
 */
export function templateEncoder(
  body: TemplateBody,
  sink: string,
): (batch: readonly Delivery[]) => Promise<EncodedRequest> {
  const { contentType } = body;
  let template: Template | null = null;
  return async ([delivery]) => {
    if (!delivery) throw new RangeError('nothing to encode');
    template ??= await load(body, sink);
    const scope = templateScope(JSON.parse(decoder.decode(delivery.bytes)), delivery.change, openValues(body));
    const rendered = renderBody(template, contentType, scope);
    if ('text' in rendered)
      return {
        id: delivery.id,
        headers: { 'content-type': contentType },
        body: encoder.encode(rendered.text.toWellFormed()),
      };
    throw failure(
      `sink ${sink}: the template fails for an event of type ${delivery.change}: ${rendered.fault}; correct it, then run dead-letters retry`,
      { disposition: 'refused' },
    );
  };
}

async function load(body: TemplateBody, sink: string): Promise<Template> {
  const template = await loadTemplate(body);
  if (!('fault' in template)) return template;
  throw failure(`sink ${sink}: the template ${template.fault}`, { disposition: 'misconfigured', scope: 'sink' });
}

function failure(message: string, details: BridgeErrorDetails): BridgeError {
  return new BridgeError('BRIDGE_WEBHOOK_TEMPLATE', message, details);
}
