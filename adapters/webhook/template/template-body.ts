// `body` of the configuration → its template; a CloudEvent → the body's text, or a fault.
import { readFile } from 'node:fs/promises';
import { codeOf } from '../../../src/errors.ts';
import type { Rendered, Template } from './template-engine.ts';
import { isJson, type TemplateBody, type TemplateSource } from './template-options.ts';

const LONGEST_TEMPLATE = 64 * 1024;
/** Limit of one body; receivers accept far less. */
const LONGEST_BODY = 256 * 1024;
/** Next to this file in adapters/webhook/, and next to the bundle in dist/. */
const FOLDER = new URL('./templates/', import.meta.url);

/**
 * Returns the template, or a fault: a readable clause without any text of the template. Loads the engine at the first
 * call.
 */
export async function loadTemplate(body: TemplateBody): Promise<Template | { readonly fault: string }> {
  const text = await textOf(body.template);
  if (typeof text !== 'string') return text;
  if (Buffer.byteLength(text) > LONGEST_TEMPLATE) return { fault: 'is longer than 64 KiB' };
  const { compile } = await import('./template-engine.ts');
  return compile(text, isJson(body.contentType));
}

/**
 * Renders the body; the same text for the same scope. Returns a fault if the media type is JSON and the text is not.
 */
export function renderBody(
  template: Template,
  contentType: string,
  scope: Readonly<Record<string, unknown>>,
): Rendered {
  const rendered = template.render(scope);
  if ('fault' in rendered) return rendered;
  if (Buffer.byteLength(rendered.text) > LONGEST_BODY) return { fault: 'its output is larger than 256 KiB' };
  if (!isJson(contentType)) return rendered;
  try {
    JSON.parse(rendered.text);
    return rendered;
  } catch (error) {
    // The message quotes the rendered text; only the place may be shown.
    const place = /\((line \d+ column \d+)\)/.exec(String(error))?.[1];
    return {
      fault: `its output is not valid JSON${place === undefined ? '' : `, from ${place} of the output`} (put texts in quotes, and use the filter json for values that may be missing)`,
    };
  }
}

/** Returns the variables of a template: the CloudEvent's attributes and data, `change`, and the configured values. */
export function templateScope(
  event: object,
  change: string,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  return { ...event, change, values };
}

async function textOf(source: TemplateSource): Promise<string | { readonly fault: string }> {
  if ('file' in source) return source.file.reveal();
  try {
    return await readFile(new URL(`${source.shipped}.liquid`, FOLDER), 'utf8');
  } catch (error) {
    return { fault: `is missing from this installation (${codeOf(error) ?? 'unreadable'}): reinstall the bridge` };
  }
}
