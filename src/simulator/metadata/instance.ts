// A machine → its instance metadata; a name always gives the same ids.
import { sha256Hex } from '../../formats/canonical-json.ts';
import type { Machine } from '../events/machine.ts';

const RESOURCE_GROUP = 'simulated';

const TAGS = [
  { name: 'environment', value: 'simulated' },
  { name: 'team', value: 'maintenance' },
];

/** A field of `compute`: a text, as the service writes every primitive, or the list of tags. */
type ComputeField = string | typeof TAGS;

export function computeOf({ name: vm, faultDomain }: Machine): Readonly<Record<string, ComputeField>> {
  const subscriptionId = guidOf('subscription');
  const member = /^(.+)_(\d+)$/.exec(vm);
  const scope = `/subscriptions/${subscriptionId}/resourceGroups/${RESOURCE_GROUP}/providers/Microsoft.Compute`;
  const resource = member
    ? `virtualMachineScaleSets/${member[1]}/virtualMachines/${member[2]}`
    : `virtualMachines/${vm}`;
  return {
    azEnvironment: 'AzurePublicCloud',
    evictionPolicy: '',
    location: 'westeurope',
    name: vm,
    offer: '0001-com-ubuntu-server-jammy',
    osType: 'Linux',
    placementGroupId: '',
    platformFaultDomain: String(faultDomain),
    platformUpdateDomain: '0',
    priority: 'Regular',
    provider: 'Microsoft.Compute',
    publisher: 'canonical',
    resourceGroupName: RESOURCE_GROUP,
    resourceId: `${scope}/${resource}`,
    sku: '22_04-lts-gen2',
    subscriptionId,
    tags: TAGS.map(({ name, value }) => `${name}:${value}`).join(';'),
    tagsList: TAGS,
    version: '22.04.202611010',
    vmId: guidOf(`vm ${vm}`),
    vmScaleSetName: member?.[1] ?? '',
    vmSize: 'Standard_D2s_v5',
    zone: '',
  };
}

function guidOf(text: string): string {
  const hex = sha256Hex(text, 32);
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}
