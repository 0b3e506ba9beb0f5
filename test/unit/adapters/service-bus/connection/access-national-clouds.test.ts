// The host of a namespace → whom its identity asks for tokens, whatever the connection leads to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { NamespaceAccess } from '../../../../../adapters/service-bus/connection/access.ts';
import { serviceBusOptions } from '../../../../../adapters/service-bus/options/service-bus-options.ts';
import type { AzureCredentialOptions } from '../../../../../src/azure/options.ts';
import { adapterDeps } from '../../../../adapters/adapter-deps.ts';

const PLACE = { owner: 'sinks.bus', name: 'sink bus', entity: 'q' };

function askedFor(namespace: string): AzureCredentialOptions {
  const asked: AzureCredentialOptions[] = [];
  const options = v.parse(serviceBusOptions, { namespace, queue: 'q', clientId: 'my-identity' });
  const access = new NamespaceAccess(options, PLACE, adapterDeps(), (credential) => {
    asked.push(credential);
    return { token: async () => assert.fail('nobody connects') };
  });
  assert.deepEqual([access.target(), asked.length], [access.target(), 1]);
  return asked[0] as AzureCredentialOptions;
}

for (const [namespace, authorityHost] of [
  ['my-ns.servicebus.chinacloudapi.cn', 'https://login.chinacloudapi.cn'],
  ['My-Ns.ServiceBus.UsGovCloudApi.net:5671', 'https://login.microsoftonline.us'],
  ['my-ns.servicebus.windows.net', undefined],
  ['servicebus.chinacloudapi.cn.example.com', undefined],
  ['bus.example.com', undefined],
] as const) {
  test(`an identity for ${namespace} asks ${authorityHost ?? 'whom the environment names'}`, () => {
    const { authorityHost: asked, clientId } = askedFor(namespace);
    assert.deepEqual([asked, clientId], [authorityHost, 'my-identity']);
  });
}
