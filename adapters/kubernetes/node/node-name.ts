// The name of a VM ↔ the name of its node and its providerID in Kubernetes. Pure.

/** An instance of a scale set: `aks-pool-12345678-vmss_150`. */
const INSTANCE = /^(.+)_(\d{1,18})$/;
/** The providerID of the Azure cloud provider, for an instance of a scale set or a single VM. */
const PROVIDER_ID =
  /^azure:\/\/.*\/providers\/microsoft\.compute\/(?:virtualmachinescalesets\/([^/]+)\/)?virtualmachines\/([^/]+)$/i;

/**
 * Returns the computer name of a VM, which is also the name of its AKS node: `aks-pool-12345678-vmss000046`. It ends
 * with the id of the instance in base 36, with six digits (learn.microsoft.com, "Understand instance IDs for Azure VM
 * Scale Set VMs"). A single VM keeps its name.
 */
export function nodeNameOf(vm: string): string {
  const [, scaleSet = '', instance = ''] = INSTANCE.exec(vm) ?? [];
  const name = scaleSet === '' ? vm : `${scaleSet}${BigInt(instance).toString(36).padStart(6, '0')}`;
  return name.toLowerCase();
}

/** Returns whether one of these VMs has this node. */
export function namesNode(vms: readonly string[], node: string): boolean {
  return vms.some((vm) => nodeNameOf(vm) === node);
}

/** Returns the name of the VM in lower case, or null if the providerID is not one of Azure. */
export function vmOfProviderId(providerId: string): string | null {
  const [, scaleSet, vm] = PROVIDER_ID.exec(providerId) ?? [];
  if (vm === undefined) return null;
  return (scaleSet === undefined ? vm : `${scaleSet}_${vm}`).toLowerCase();
}
