// docs/receive/samples → what the adapters send today, and CloudEvents that libraries read.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import test from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import { CHANGE_NAMES } from '../../src/model/change-names.ts';
import { asyncApiOf, messageFaults } from '../support/asyncapi-document.ts';
import { SAMPLES_FOLDER, wireSamples } from './wire-samples.ts';

interface Sample {
  readonly headers?: Readonly<Record<string, string>>;
  readonly applicationProperties?: Readonly<Record<string, string>>;
  readonly body: string;
}

const FORMS = [
  'http-structured',
  'http-binary',
  'http-batch',
  'kafka-structured',
  'kafka-binary',
  'service-bus-structured',
  'service-bus-binary',
];

function read(form: string, change: string): Sample {
  return JSON.parse(readFileSync(join(SAMPLES_FOLDER, form, `${change}.json`), 'utf8')) as Sample;
}

test('the samples are what the adapters send: `npm run wire-samples` writes them', async () => {
  const expected = await wireSamples();
  const paths = globSync('*/*.json', { cwd: SAMPLES_FOLDER }).map((path) => path.replaceAll(sep, '/'));
  assert.deepEqual(paths.sort(), Object.keys(expected).sort());
  for (const [path, text] of Object.entries(expected))
    assert.equal(readFileSync(join(SAMPLES_FOLDER, path), 'utf8'), text, path);
});

test('there is a sample of each type in each form', () => {
  const folders = globSync('*/*.json', { cwd: SAMPLES_FOLDER });
  assert.equal(folders.length, FORMS.length * CHANGE_NAMES.length);
});

test('the library of CloudEvents reads each request, with the same id in each form', () => {
  for (const change of CHANGE_NAMES) {
    const ids = ['http-structured', 'http-binary', 'http-batch'].map((form) => {
      const { headers = {}, body } = read(form, change);
      const [event] = [HTTP.toEvent({ headers, body })].flat() as CloudEvent<unknown>[];
      assert.equal(event?.type, `io.github.scheduled-events-bridge.${change}.v1`);
      return event?.id;
    });
    assert.equal(new Set(ids).size, 1, change);
  }
});

test('each sample fits the AsyncAPI document', () => {
  const hook = { type: 'webhook', url: 'https://hooks.example.com/' };
  const kafka = { type: 'kafka', brokers: ['kafka.example.com:9092'], topic: 'maintenance' };
  const bus = { type: 'service-bus', namespace: 'example.servicebus.windows.net', topic: 'maintenance' };
  const sinks = Object.fromEntries(
    FORMS.map((form) => {
      const mode = form.split('-').at(-1);
      return [form, { ...(form.startsWith('http') ? hook : form.startsWith('kafka') ? kafka : bus), mode }];
    }),
  );
  const faults = messageFaults(asyncApiOf({ sinks }));
  for (const form of FORMS) {
    for (const change of CHANGE_NAMES) {
      const { headers, applicationProperties, body } = read(form, change);
      assert.equal(
        faults.ofChannel(form, { headers: headers ?? applicationProperties, payload: JSON.parse(body) as unknown }),
        '',
        `${form} ${change}`,
      );
    }
  }
});
