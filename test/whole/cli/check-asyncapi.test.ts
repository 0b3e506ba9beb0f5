// `check --asyncapi` → the document of an example or of a configuration, as YAML or JSON.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'yaml';
import { asyncApiDocument } from '../../../src/asyncapi/document.ts';
import { configWith } from '../../support/asyncapi-document.ts';
import { BUILD_VERSION } from '../../support/build-version.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder } from '../../support/running-bridge.ts';

const SINKS = {
  hooks: { type: 'webhook', url: { env: 'HOOK_URL' }, mode: 'binary', filter: { changes: ['scheduled'] } },
};
const HOOK_URL = 'https://hooks.example.com/secret-path?sig=secret-signature';

test('without a file it is an example, the same in YAML and in JSON', async (t) => {
  const [yaml, json] = [await run(t, ['check', '--asyncapi']), await run(t, ['check', '--asyncapi', '--json'])];
  assert.deepEqual([yaml.code, yaml.stderr, json.code, json.stderr], [0, '', 0, '']);
  assert.match(yaml.stdout, /^asyncapi: 3\.1\.0\n/);
  assert.deepEqual(parse(yaml.stdout), JSON.parse(json.stdout));
});

test('with a file it is the document of this configuration, without its secrets', async (t) => {
  const sections = { sinks: SINKS, http: { listen: '127.0.0.1:8700' } };
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', sections);
  const { code, stdout, stderr } = await run(t, ['check', '--asyncapi', '--json', '--config', config], {
    env: { HOOK_URL },
  });
  assert.deepEqual([code, stderr], [0, '']);
  const expected = JSON.parse(JSON.stringify(asyncApiDocument(configWith(sections, { HOOK_URL }))));
  expected.info.version = BUILD_VERSION;
  assert.deepEqual(JSON.parse(stdout), expected);
  assert.doesNotMatch(stdout, /secret-/);
});

test('a faulty file has no document: its faults are listed, and the exit code is 78', async (t) => {
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { sinks: { hooks: { type: 'webhook', url: 'no-url' } } });
  const { code, stdout, stderr } = await run(t, ['check', '--asyncapi', '--config', config]);
  assert.deepEqual([code, stdout], [78, '']);
  assert.match(stderr, /sinks\.hooks\.url/);
});
