// Events of every type, hostile ones too → valid payloads for Slack, Microsoft Teams, PagerDuty.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { loadTemplate, renderBody, templateScope } from '../../../../../adapters/webhook/template/template-body.ts';
import type { Rendered } from '../../../../../adapters/webhook/template/template-engine.ts';
import { SHIPPED_TEMPLATES } from '../../../../../adapters/webhook/template/template-options.ts';
import { type Sample, sampleEvents } from '../../../../../adapters/webhook/template/template-samples.ts';
import { CHANGE_NAMES } from '../../../../../src/model/change-names.ts';

type Name = (typeof SHIPPED_TEMPLATES)[number];

const ROUTING_KEY = 'R0123456789abcdef0123456789abcde';
const VALUES = { routingKey: ROUTING_KEY };
/** Of a message to Teams; of an event to PagerDuty. Slack sets limits to its parts alone. */
const MOST_BYTES: Readonly<Record<Name, number>> = { slack: 64 * 1024, teams: 28 * 1024, pagerduty: 512 * 1024 };

const HOSTILE: Readonly<Record<string, string>> = {
  'quotes and backslashes': 'a "quoted" \\ \\" text',
  'line ends and controls': 'a\r\nb\u0000\u001b[31m\u2028\u0085',
  'a template': '{{ values.routingKey }}{% raw %}{% endraw %}',
  'ten thousand letters': 'x'.repeat(10_000),
  'ten thousand ampersands': '&'.repeat(10_000),
  'ten thousand controls': '\u0001'.repeat(10_000),
  'ten thousand emoji': '😀'.repeat(10_000),
  'markup of a page': '</script><!-- <![CDATA[ -->',
  "Slack's marks": '<!channel> <@U012AB3CD> <https://evil.example|click> & *bold* _it_ `code` &lt;',
  Markdown: '[click](https://evil.example) **bold** <at>everyone</at>',
  'a lone surrogate': 'half \ud83d',
  blanks: '   ',
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);

async function renderWith(name: Name, { change, event }: Sample): Promise<Rendered> {
  const template = await loadTemplate({ template: { shipped: name }, contentType: 'application/json', values: VALUES });
  if ('fault' in template) assert.fail(template.fault);
  return renderBody(template, 'application/json', templateScope(event, change, VALUES));
}

async function payload(name: Name, sample: Sample): Promise<Record<string, unknown>> {
  const rendered = await renderWith(name, sample);
  if ('fault' in rendered) assert.fail(`${name}, ${sample.change}: ${rendered.fault}`);
  assert.ok(
    Buffer.byteLength(rendered.text) <= MOST_BYTES[name],
    `${name}, ${sample.change}: ${Buffer.byteLength(rendered.text)} bytes`,
  );
  return JSON.parse(rendered.text);
}

/** Every text of an event that comes from outside, replaced; times, numbers and the bridge's own words stay. */
function hostile({ change, event }: Sample, text: string): Sample {
  const { data, ...attributes } = event as Record<string, unknown> & { readonly data: Record<string, unknown> };
  const given = {
    ...{ eventType: text, eventSource: text, description: text, resourceType: text, resources: Array(20).fill(text) },
    ...{ eventId: text, approver: text, policy: text, reason: text },
  };
  const replaced = Object.entries(given).filter(([name]) => Object.hasOwn(data, name));
  const observer = { ...(data['observer'] as object), name: text };
  const changed = {
    ...attributes,
    source: `/${text}`,
    impact: text,
    initiator: text,
    data: { ...data, ...Object.fromEntries(replaced), observer },
  };
  return { change, event: changed };
}

for (const name of SHIPPED_TEMPLATES) {
  const schema = JSON.parse(
    readFileSync(new URL(`../../../../fixtures/payloads/${name}.schema.json`, import.meta.url), 'utf8'),
  );
  const isValid = ajv.compile(schema);

  test(`${name}: every type of event, in full dress and bare, gives a payload by the published rules`, async () => {
    const samples = sampleEvents();
    assert.deepEqual(new Set(samples.map(({ change }) => change)), new Set(CHANGE_NAMES));
    for (const sample of samples) {
      const made = await payload(name, sample);
      assert.ok(isValid(made), `${sample.change}: ${ajv.errorsText(isValid.errors)}\n${JSON.stringify(made, null, 1)}`);
    }
  });

  for (const [what, text] of Object.entries(HOSTILE)) {
    test(`${name}: ${what} in every text of an event break nothing`, async () => {
      for (const sample of sampleEvents()) {
        const made = await payload(name, hostile(sample, text));
        assert.ok(
          isValid(made),
          `${sample.change}: ${ajv.errorsText(isValid.errors)}\n${JSON.stringify(made, null, 1).slice(0, 4000)}`,
        );
        const whole = JSON.stringify(made);
        assert.ok(whole.isWellFormed());
        assert.equal(
          whole.split(ROUTING_KEY).length - 1,
          name === 'pagerduty' ? 1 : 0,
          'a template in a text was carried out',
        );
      }
    });
  }

  test(`${name}: a type of event that a later release may send gives a payload, too`, async () => {
    const [sample] = sampleEvents();
    assert.ok(sample);
    assert.ok(isValid(await payload(name, { ...sample, change: 'something.new' })), ajv.errorsText(isValid.errors));
  });
}

async function shown(name: Name, change: string): Promise<Record<string, unknown>> {
  const sample = sampleEvents().find((one) => one.change === change);
  return payload(name, sample ?? assert.fail(change));
}

test('slack: the header says what happens, the fields to whom and when, in the time zone of the reader', async () => {
  assert.deepEqual(await shown('slack', 'scheduled'), {
    text: ':information_source: Freeze scheduled: WestNO_0, WestNO_1',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: ':information_source: Freeze scheduled', emoji: true } },
      {
        type: 'section',
        fields: [
          '*Machines*\nWestNO_0, WestNO_1',
          '*Not before*\n<!date^1649716018^{date_short_pretty} {time_secs}|2022-04-11 22:26:58 UTC>',
          '*Duration*\n5 s',
          '*Initiated by*\nPlatform',
          '*Seen by*\nWestNO_0',
        ].map((text) => ({ type: 'mrkdwn', text, verbatim: true })),
      },
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: 'Paused for "maintenance" &lt;\\&gt; &amp; {{ id }}\nof the host.',
          verbatim: true,
        },
      },
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: 'c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled', verbatim: true }],
      },
    ],
  });
});

test('teams: the card shows texts as they are, whatever they hold', async () => {
  const { attachments } = (await shown('teams', 'updated')) as {
    attachments: { content: { body: { inlines: { text: string }[] }[] } }[];
  };
  const lines = attachments[0]?.content.body.map(({ inlines }) => inlines.map(({ text }) => text).join(''));
  assert.deepEqual(lines, [
    'Freeze changed',
    'Machines: WestNO_0, WestNO_1',
    'Not before: 2022-04-11 22:26:58 UTC',
    'Duration: 5 s',
    'Initiated by: Platform',
    'Changed: notBefore',
    'Seen by: WestNO_0',
    'Paused for "maintenance" <\\> & {{ id }}\nof the host.',
    'c7061bac-afdc-4513-b24b-aa5f13a16123:updated',
  ]);
});

test('pagerduty: what begins triggers, what is over resolves, under one key for each event and each observer', async () => {
  const keys = await Promise.all(
    CHANGE_NAMES.map(async (change) => {
      const { event_action: action, dedup_key: key, payload: alert } = await shown('pagerduty', change);
      return [change, action, key, (alert as { severity?: string } | undefined)?.severity];
    }),
  );
  const eid = 'c7061bac-afdc-4513-b24b-aa5f13a16123';
  assert.deepEqual(keys, [
    ['scheduled', 'trigger', eid, 'info'],
    ['updated', 'trigger', eid, 'info'],
    ['started', 'trigger', eid, 'info'],
    ['ended', 'resolve', eid, undefined],
    ['approval.recorded', 'trigger', eid, 'info'],
    ['approval.submitted', 'trigger', eid, 'info'],
    ['approval.failed', 'trigger', eid, 'warning'],
    ['source.blind', 'trigger', 'source-westno_0', 'warning'],
    ['source.restored', 'resolve', 'source-westno_0', undefined],
  ]);
});

for (const [number, severity] of [
  [9, 'info'],
  [13, 'warning'],
  [17, 'error'],
  [21, 'critical'],
] as const) {
  test(`pagerduty: the severity number ${number} is ${severity}`, async () => {
    const [sample] = sampleEvents();
    assert.ok(sample);
    const { payload: alert } = await payload('pagerduty', {
      ...sample,
      event: { ...sample.event, severitynumber: number },
    });
    assert.equal((alert as { severity: string }).severity, severity);
  });
}

test('pagerduty: details that are too long are cut instead of losing the alert', async () => {
  const [sample] = sampleEvents();
  assert.ok(sample);
  const { data } = sample.event as { readonly data: object };
  const resources = Array.from({ length: 20_000 }, (_, index) => `machine_${index}`);
  const { payload: alert } = await payload('pagerduty', {
    ...sample,
    event: { ...sample.event, data: { ...data, resources } },
  });
  assert.deepEqual(Object.keys((alert as { custom_details: object }).custom_details), ['beginning']);
});
