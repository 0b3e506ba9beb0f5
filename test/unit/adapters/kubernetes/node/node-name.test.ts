// Names of VMs and providerIDs → names of nodes and of VMs, by public examples.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNameOf, vmOfProviderId } from '../../../../../adapters/kubernetes/node/node-name.ts';

const NAMES: readonly (readonly [vm: string, node: string])[] = [
  // As an issue of Azure/AKS shows both (3293).
  ['aks-001-12345678-vmss_150', 'aks-001-12345678-vmss000046'],
  // As the page on instance ids has it, in the lower case of node names.
  ['nsgvmss_85', 'nsgvmss00002d'],
  ['aks-pool-12345678-vmss_0', 'aks-pool-12345678-vmss000000'],
  ['akswin_35', 'akswin00000z'],
  ['x_2176782335', 'xzzzzzz'],
  ['WestNO_0', 'westno000000'],
  // A VM of its own, and an instance of a flexible scale set.
  ['aks-nodepool1-12345678-0', 'aks-nodepool1-12345678-0'],
  ['flex_1a2b3c4d', 'flex_1a2b3c4d'],
];

for (const [vm, node] of NAMES) test(`the node of ${vm} is ${node}`, () => assert.equal(nodeNameOf(vm), node));

const BASE = 'azure:///subscriptions/S/resourceGroups/MC_g/providers/Microsoft.Compute';

for (const [providerId, vm] of [
  [`${BASE}/virtualMachineScaleSets/aks-Pool-vmss/virtualMachines/150`, 'aks-pool-vmss_150'],
  [`${BASE}/virtualMachines/Master-0`, 'master-0'],
  ['kind://docker/kind/kind-control-plane', null],
  ['', null],
] as const)
  test(`the VM of the providerID ${providerId} is ${vm}`, () => assert.equal(vmOfProviderId(providerId), vm));

test('a number that no instance has is a part of the name: it is not computed with, however long it is', () => {
  const name = `web_${'9'.repeat(1_000_000)}`;
  const fromMs = performance.now();
  assert.equal(nodeNameOf(name), name);
  assert.ok(performance.now() - fromMs < 5000);
});
