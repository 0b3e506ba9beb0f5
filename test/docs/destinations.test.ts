// The sinks of docs/receive/destinations.md → valid configurations that send what the page says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parse } from 'yaml';
import { ADAPTERS } from '../../adapters/index.ts';
import { asyncApiDocument } from '../../src/asyncapi/document.ts';
import { readConfigFully } from '../../src/config/read-config.ts';
import { formatFault } from '../../src/schema/faults.ts';
import type { AsyncApi } from '../support/asyncapi-document.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/receive/destinations.md'), 'utf8');
const FILES: Readonly<Record<string, string>> = {
  '/etc/scheduled-events-bridge/function.key': 'a-key-of-a-function',
  '/etc/scheduled-events-bridge/topic.key': 'a-key-of-a-topic',
};

const ENV = {
  WORKFLOW_URL: 'https://prod-01.westeurope.logic.azure.com/workflows/a/triggers/manual/paths/invoke?sig=secret',
};

/** By the heading of their section. */
const CONFIGURATIONS: readonly (readonly [heading: string, text: string])[] = PAGE.split(/^## /m).flatMap((section) =>
  [...section.matchAll(/^```yaml\n(.*?)^```$/gms)].map(
    ([, text = '']) => [section.split('\n')[0] ?? '', text] as const,
  ),
);

/** The media types of what each sink sends, by its section and name. */
const REQUEST_CONTENT_TYPES: Readonly<Record<string, string>> = {
  'Event Grid: custom topic/topic': 'application/cloudevents+json; charset=utf-8',
  'Event Grid: namespace topic/topic': 'application/cloudevents+json; charset=utf-8',
  'Functions/function': 'application/cloudevents+json; charset=utf-8',
  'Logic Apps/workflow': 'application/json',
  'Knative/broker': 'application/json',
  'Dapr/kafka': 'application/cloudevents+json; charset=UTF-8',
  'Dapr/bus': 'application/cloudevents+json; charset=utf-8',
  'SDKs of Azure/bus': 'application/cloudevents+json; charset=utf-8',
};

async function documentOf(text: string): Promise<AsyncApi> {
  const readFile = (path: string) => FILES[path] ?? assert.fail(path);
  const checked = await readConfigFully(text, {
    adapters: ADAPTERS,
    env: ENV,
    readFile,
    directory: '/etc/scheduled-events-bridge',
  });
  assert.ok('options' in checked, 'faults' in checked ? checked.faults.map(formatFault).join('\n') : '');
  return asyncApiDocument(checked.options) as unknown as AsyncApi;
}

test('each sink of the page is valid, and sends the content type that its destination reads', async () => {
  const sent: Record<string, string | undefined> = {};
  for (const [heading, text] of CONFIGURATIONS) {
    const document = await documentOf(text);
    for (const name of Object.keys((parse(text) as { sinks: object }).sinks))
      sent[`${heading}/${name}`] = document.channels[name]?.messages['Scheduled']?.contentType;
  }
  assert.deepEqual(sent, REQUEST_CONTENT_TYPES);
});

test('the alternatives in the text are valid, too', async () => {
  const [, custom = ''] = CONFIGURATIONS[0] ?? [];
  const withKey = custom.replace(
    /^ +azure: .*$/m,
    '    headers: { aeg-sas-key: { file: /etc/scheduled-events-bridge/topic.key } }',
  );
  const batch = `${custom.trimEnd()}\n    mode: batch\n`;
  assert.equal(
    (await documentOf(withKey)).channels['topic']?.messages['Scheduled']?.contentType,
    'application/cloudevents+json; charset=utf-8',
  );
  const batched = (await documentOf(batch)).channels['topic']?.messages['Scheduled'];
  assert.equal(batched?.contentType, 'application/cloudevents-batch+json; charset=utf-8');
  const [, functions = ''] = CONFIGURATIONS.find(([heading]) => heading === 'Functions') ?? [];
  const withToken = functions.replace(
    /^ +headers: .*$/m,
    '    azure: { credential: managed-identity, scope: "api://CLIENT_ID_OF_THE_APP/.default" }',
  );
  assert.ok((await documentOf(withToken)).channels['function']);
});
